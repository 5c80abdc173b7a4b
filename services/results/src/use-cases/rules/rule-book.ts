import type { Knex } from 'knex';
import { findActiveRules } from '../../db/alarm-rules.ts';
import { ruleSetOf, rulesFor } from '../../domain/alarm-rule.ts';
import { prepareRules } from '../../domain/fold/active-rule.ts';
import type { PreparedRule } from '../../domain/fold/active-rule.ts';
import type { Pace } from '../../domain/fold/pace.ts';
import type { EvaluatedView } from '../../domain/task-view.ts';
import { createdAtMsOf } from '@vision/contracts/ids';
import { createRuleCache } from './rule-cache.ts';

/** The rules of tasks, prepared for evaluation. */
export interface RuleBook {
  /** Returns the rules of a task; reads them when `ruleSet` differs from the cached one. */
  of: (asked: AskedRules) => Promise<TaskRules>;
}

interface AskedRules {
  taskId: string;
  task: EvaluatedView;
  pace: Pace;
  ruleSet: number | null;
}

/** The rules of a task, and the number that identifies them. */
interface TaskRules {
  ruleSet: number;
  prepared: readonly PreparedRule[];
}

/** Caches the rules of the tasks that this process folds: regions and schedules are prepared once. */
export function createRuleBook(db: Knex): RuleBook {
  const known = createRuleCache<TaskRules & { pace: Pace }>(({ prepared }) => prepared.length);
  return {
    of: async (asked) => {
      const { taskId, pace, ruleSet } = asked;
      const found = known.get(taskId);
      if (found?.ruleSet === ruleSet && isSame(found.pace, pace)) return found;
      known.delete(taskId);
      const rules = await findRules(db, asked);
      if (rules.ruleSet === 0) return rules;
      known.set(taskId, { ...rules, pace });
      return rules;
    },
  };
}

const isSame = (a: Pace, b: Pace): boolean =>
  a.trackEndsAfterMs === b.trackEndsAfterMs && a.coveredSeconds === b.coveredSeconds;

async function findRules(db: Knex, { taskId, task, pace }: AskedRules): Promise<TaskRules> {
  const { subject, clientRef, defaultMinScore, kind } = task;
  const rules = rulesFor(await findActiveRules(db, subject), { taskId, clientRef });
  const prepared = prepareRules(rules, {
    taskId,
    threshold: Math.ceil(defaultMinScore * 1e6 - 1e-6),
    isLive: kind === 'stream',
    beginsMs: createdAtMsOf(taskId),
    pace,
  });
  return { ruleSet: ruleSetOf(rules), prepared };
}
