import type { Knex } from 'knex';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import { scheduleFoldsOf, lockRules, saveRule } from '../../db/alarm-rules.ts';

/**
 * Stores an alarm rule and makes the running tasks of its subject due; their fold then evaluates it. The newest version
 * wins, so order and repeats do not matter.
 */
export async function learnRule(tx: Knex.Transaction, rule: RuleSnapshot): Promise<void> {
  await lockRules(tx, rule.subject, 'rule');
  if (await saveRule(tx, rule)) await scheduleFoldsOf(tx, rule.subject);
}
