import type { Knex } from 'knex';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { appendEvent } from '@vision/kafka/outbox';
import { countRules, findRule, lockRules, renameRule, saveRule } from '../../db/alarm-rules.ts';
import { definitionText, ruleEvent, tooManyRules } from '../../domain/alarm-rule.ts';
import type { GivenRule, StoredRule } from '../../domain/alarm-rule.ts';
import type { Deps } from '../deps.ts';
import type { RuleChange } from './rule-changes.ts';

export interface PutRuleInput {
  subject: string;
  ruleId: string;
  given: GivenRule;
  /** Rules that the subject may have. */
  allowed: number;
}

export interface PutRule {
  rule: StoredRule;
  /** Whether the rule did not exist before. */
  isNew: boolean;
}

/**
 * Stores a rule under the name that its subject chose, and publishes it to the service that evaluates it in the same
 * transaction. A repeat changes nothing, and a new name does not change the evaluation.
 * @throws AppError conflict (`limit_reached`), OP-QUOTA-RATE-LIMITED `rule_change_rate`.
 */
export async function putAlarmRule(
  { db, signals, wakeRelay, ruleChanges }: Pick<Deps, 'db' | 'signals' | 'wakeRelay' | 'ruleChanges'>,
  input: PutRuleInput,
): Promise<PutRule> {
  const change = ruleChanges.of(input.subject);
  const { rule, how } = await inTransaction(db, (tx) => put(tx, change, input));
  if (how === 'created' || how === 'changed') {
    wakeRelay();
    signals.ruleChanged(rule, how);
  }
  return { rule, isNew: how === 'created' };
}

type How = 'created' | 'changed' | 'renamed' | 'unchanged';

async function put(
  tx: Knex.Transaction,
  change: RuleChange,
  { subject, ruleId, given, allowed }: PutRuleInput,
): Promise<{ rule: StoredRule; how: How }> {
  await lockRules(tx, subject);
  const found = await findRule(tx, subject, ruleId);
  const known = found?.deleted_at === null ? found : undefined;
  const definition = definitionText(given);
  if (known?.definition === definition) {
    if (known.name === given.name) return { rule: known, how: 'unchanged' };
    return { rule: await renameRule(tx, known, given.name), how: 'renamed' };
  }
  if (!known && (await countRules(tx, subject)) >= allowed) throw tooManyRules(allowed);
  await change.count();
  const rule = await saveRule(tx, { subject, rule_id: ruleId, name: given.name, definition });
  await publishRule(tx, rule);
  return { rule, how: known ? 'changed' : 'created' };
}

/** Adds the present rule to the outbox. With the lock of the rules, outbox and commits have the same order. */
export async function publishRule(tx: Knex.Transaction, rule: StoredRule): Promise<void> {
  await appendEvent(tx, ruleEvent(rule));
  crashPoint('notify.rule_stored');
}
