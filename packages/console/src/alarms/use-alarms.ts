import { useSignal } from '@preact/signals';
import type { AlarmRule } from '@vision/client';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';

const EVERY_MS = 3_000;
const PER_PAGE = { open: 50, closed: 20 } as const;

/** A page of the alarms that are open, and one of those that are closed. */
export function useAlarms() {
  const open = useAlarmPage('open');
  const closed = useAlarmPage('closed');
  const reload = () => {
    open.reload();
    closed.reload();
  };
  return { open, closed, reload };
}

function useAlarmPage(state: 'open' | 'closed') {
  const { client } = useSession();
  const cursor = useSignal('');
  const at = cursor.value;
  const loaded = useLoaded({
    key: at,
    load: async (signal) => {
      const query = { state, limit: PER_PAGE[state], ...(at === '' ? {} : { cursor: at }) };
      return dataOf(await client.api.GET('/v1/vision/alarms', { params: { query }, signal }));
    },
    // Older closed alarms change only where their viewer changes them.
    everyMs: (page) => (page && at !== '' && state === 'closed' ? undefined : EVERY_MS),
  });
  return { ...loaded, cursor };
}

export type RuleWithVerdicts = AlarmRule & {
  verdicts?: { none: number; confirmed: number; false_alarm: number } | undefined;
};
/** Each of so many more is asked for how often it was right. */
const WITH_VERDICTS = 20;
/** Less often than alarms, as it takes a request for each of those. */
const RULES_EVERY_MS = 30_000;

/** The rules of the viewer; the first of them with their verdicts, and more of these when asked. */
export function useRules() {
  const { client } = useSession();
  const counted = useSignal(WITH_VERDICTS);
  const loaded = useLoaded<RuleWithVerdicts[]>({
    key: 'rules',
    variant: String(counted.value),
    load: async (signal) => {
      const { items } = dataOf(await client.api.GET('/v1/vision/alarm-rules', { signal }));
      const asked = items.slice(0, counted.value).map(async (rule) => {
        const params = { path: { rule_id: rule.rule_id } };
        const { data } = await client.api.GET('/v1/vision/alarm-rules/{rule_id}', { params, signal });
        // The client forgets that a corner has two numbers.
        return (data ?? rule) as RuleWithVerdicts;
      });
      return [...(await Promise.all(asked)), ...(items.slice(counted.value) as AlarmRule[])];
    },
    everyMs: () => RULES_EVERY_MS,
  });
  return { ...loaded, counted: counted.value, countMore: () => (counted.value += WITH_VERDICTS) };
}
