import { inTransaction } from '@vision/shared/db/transaction';
import { findRule, lockRules, markRuleDeleted } from '../../db/alarm-rules.ts';
import { ruleNotFound, UNKNOWN_DEFINITION } from '../../domain/alarm-rule.ts';
import type { Deps } from '../deps.ts';
import { publishRule } from './put-alarm-rule.ts';

/**
 * Deletes a rule; its alarms stay. A repeat changes nothing.
 * @throws AppError not_found for a rule that never existed, OP-QUOTA-RATE-LIMITED `rule_change_rate`.
 */
export async function deleteAlarmRule(
  { db, signals, wakeRelay, ruleChanges }: Pick<Deps, 'db' | 'signals' | 'wakeRelay' | 'ruleChanges'>,
  { subject, ruleId }: { subject: string; ruleId: string },
): Promise<void> {
  const change = ruleChanges.of(subject);
  const deleted = await inTransaction(db, async (tx) => {
    await lockRules(tx, subject);
    const known = await findRule(tx, subject, ruleId);
    if (!known) throw ruleNotFound();
    if (known.deleted_at !== null) return undefined;
    await change.count();
    // Only its version is needed later; names of deleted rules may be many, and their definitions long.
    const rule = await markRuleDeleted(tx, known, UNKNOWN_DEFINITION);
    await publishRule(tx, { ...rule, definition: known.definition });
    return rule;
  });
  if (!deleted) return;
  wakeRelay();
  signals.ruleChanged(deleted, 'deleted');
}
