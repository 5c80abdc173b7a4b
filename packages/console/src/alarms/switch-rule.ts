import type { AlarmRule, VisionClient } from '@vision/client';
import { dataOf, foundOf } from '../state/data.ts';

const PATH = '/v1/vision/alarm-rules/{rule_id}';

/** A rule as it is now; undefined when it was deleted. */
export async function ruleNow(
  client: VisionClient,
  ruleId: string,
  signal?: AbortSignal,
): Promise<AlarmRule | undefined> {
  const params = { path: { rule_id: ruleId } };
  // The client forgets that a corner has two numbers.
  return foundOf(await client.api.GET(PATH, { params, ...(signal ? { signal } : {}) })) as AlarmRule | undefined;
}

/**
 * Mutes a rule, or lets it raise alarms again. The rest of it stays as it is now, not as a page once read it. Returns
 * false for a rule that was deleted: it does not come back.
 */
export async function switchRule(client: VisionClient, ruleId: string, enabled: boolean): Promise<boolean> {
  const rule = await ruleNow(client, ruleId);
  if (!rule) return false;
  const { name, scope, when, schedule, min_interval_ms: interval } = rule;
  const body = {
    name,
    enabled,
    when,
    min_interval_ms: interval,
    ...(scope ? { scope } : {}),
    ...(schedule ? { schedule } : {}),
  };
  dataOf(await client.api.PUT(PATH, { params: { path: { rule_id: ruleId } }, body }));
  return true;
}
