import { until } from '@vision/shared/testing/until';
import type { Caller } from '../support/system.ts';
import type { Findings } from './findings.ts';

const RULE = { name: 'Videos', when: { kind: 'task_ended', statuses: ['succeeded'] }, min_interval_ms: 0 };
const PATIENCE = { timeoutMs: 120_000, intervalMs: 250 };

/** Alarm rules, one of each stage: whichever replicas keep and judge them, each tells of every video that ends. */
export interface Rules {
  /** Makes the rule of a stage. */
  make: (stage: string) => Promise<void>;
  /** Waits until every rule that there is has raised an alarm for this task. */
  untilRaised: (what: string, taskId: string) => Promise<void>;
}

export function createRules(caller: Caller, { ask, breach }: Findings): Rules {
  const made: string[] = [];
  return {
    make: async (stage) => {
      const ruleId = stage.replaceAll(' ', '-');
      const headers = { 'content-type': 'application/json' };
      const init = { headers, body: JSON.stringify(RULE) };
      const put = () => caller.send('PUT', `/v1/vision/alarm-rules/${ruleId}`, init);
      if (await ask(`${stage}: an alarm rule`, [201], put)) made.push(ruleId);
    },
    untilRaised: async (what, taskId) => {
      let missing = made;
      const areRaised = async () => {
        const list = () => caller.get(`/v1/vision/alarms?task_id=${taskId}`);
        const answer = await ask(`${what}: its alarms`, [200], list);
        const alarms = (answer?.body['items'] ?? []) as { rule_id: string }[];
        missing = made.filter((ruleId) => alarms.every(({ rule_id }) => rule_id !== ruleId));
        return missing.length === 0;
      };
      await until(areRaised, PATIENCE).catch(() => breach(`${what}: no alarm of the rules ${missing.join(', ')}`));
    },
  };
}
