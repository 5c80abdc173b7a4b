import { useSignal } from '@preact/signals';
import type { AlarmRule } from '@vision/client';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';

const EVERY_MS = 3_000;
const MOST_OPEN = 50;
const PER_PAGE = 20;

/** Alarms that are open, and a page of closed ones. */
export function useAlarms() {
  const { client } = useSession();
  const cursor = useSignal('');
  const open = useLoaded({
    key: 'open',
    load: async (signal) => {
      const query = { state: 'open' as const, limit: MOST_OPEN };
      return dataOf(await client.api.GET('/v1/vision/alarms', { params: { query }, signal })).items;
    },
    everyMs: () => EVERY_MS,
  });
  const closed = useLoaded({
    key: cursor.value,
    load: async (signal) => {
      const query = {
        state: 'closed' as const,
        limit: PER_PAGE,
        ...(cursor.value === '' ? {} : { cursor: cursor.value }),
      };
      return dataOf(await client.api.GET('/v1/vision/alarms', { params: { query }, signal }));
    },
    // Older alarms change only where their viewer changes them.
    everyMs: (page) => (page && cursor.value !== '' ? undefined : EVERY_MS),
  });
  const reload = () => {
    open.reload();
    closed.reload();
  };
  return { open, closed, cursor, reload };
}

export type RuleWithVerdicts = AlarmRule & {
  verdicts?: { none: number; confirmed: number; false_alarm: number } | undefined;
};
/** Each of them is asked for how often it was right. */
const MOST_WITH_VERDICTS = 20;
/** Less often than alarms, as it takes a request for each of those. */
const RULES_EVERY_MS = 30_000;

/** The rules of the viewer, the first of them with their verdicts. */
export function useRules() {
  const { client } = useSession();
  return useLoaded<RuleWithVerdicts[]>({
    key: 'rules',
    load: async (signal) => {
      const { items } = dataOf(await client.api.GET('/v1/vision/alarm-rules', { signal }));
      const counted = items.slice(0, MOST_WITH_VERDICTS).map(async (rule) => {
        const params = { path: { rule_id: rule.rule_id } };
        const { data } = await client.api.GET('/v1/vision/alarm-rules/{rule_id}', { params, signal });
        // The client forgets that a corner has two numbers.
        return (data ?? rule) as RuleWithVerdicts;
      });
      return [...(await Promise.all(counted)), ...(items.slice(MOST_WITH_VERDICTS) as AlarmRule[])];
    },
    everyMs: () => RULES_EVERY_MS,
  });
}
