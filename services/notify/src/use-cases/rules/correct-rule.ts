import type { Knex } from 'knex';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { findRule, lockRules, saveNewer, saveUnknownRule } from '../../db/alarm-rules.ts';
import { UNKNOWN_DEFINITION } from '../../domain/alarm-rule.ts';
import { publishRule } from './put-alarm-rule.ts';

/**
 * Handles an alarm of a version above all stored ones: this database was restored, or emptied, and results evaluates
 * tasks by a lost rule. Results receives the present rule under a newer version, or that there is none. So the two
 * agree again from the first alarm by which they would differ, and the subject can set the rule again.
 * @returns whether the alarm was one
 */
export async function correctRule(
  tx: Knex.Transaction,
  { subject, rule_id, rule_version: evaluated }: Pick<AlarmSnapshot, 'subject' | 'rule_id' | 'rule_version'>,
): Promise<boolean> {
  const seen = await findRule(tx, subject, rule_id);
  if (seen && seen.version >= evaluated) return false;
  await lockRules(tx, subject);
  const known = await findRule(tx, subject, rule_id);
  if (known && known.version >= evaluated) return false;
  const rule = known
    ? await saveNewer(tx, known, evaluated)
    : await saveUnknownRule(tx, { subject, rule_id, definition: UNKNOWN_DEFINITION }, evaluated);
  await publishRule(tx, rule);
  return true;
}
