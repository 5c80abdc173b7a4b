import { inTransaction } from '@vision/shared/db/transaction';
import { findRule, lockRules, markRuleDeleted } from '../db/alarm-rules.ts';
import { ruleNotFound } from '../domain/alarm-rule.ts';
import type { Deps } from './deps.ts';
import { publishRule } from './put-alarm-rule.ts';

/**
 * Deletes a rule; its alarms stay. A repeat changes nothing.
 * @throws AppError not_found for a rule that there never was.
 */
export async function deleteAlarmRule(
  { db, signals, wakeRelay }: Pick<Deps, 'db' | 'signals' | 'wakeRelay'>,
  { subject, ruleId }: { subject: string; ruleId: string },
): Promise<void> {
  const deleted = await inTransaction(db, async (tx) => {
    await lockRules(tx, subject);
    const known = await findRule(tx, subject, ruleId);
    if (!known) throw ruleNotFound();
    if (known.deleted_at !== null) return undefined;
    const rule = await markRuleDeleted(tx, known);
    await publishRule(tx, rule);
    return rule;
  });
  if (!deleted) return;
  wakeRelay();
  signals.ruleChanged(deleted, 'deleted');
}
