import { randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import type { StoredRule } from '../domain/alarm-rule.ts';

/** Stores a rule unless a newer version of it is stored; returns whether it was. */
export async function saveRule(tx: Knex.Transaction, rule: RuleSnapshot): Promise<boolean> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `insert into alarm_rules as known (subject, rule_id, version, is_active, is_deleted, rule)
     values (:subject, :ruleId, :version, :isActive, :isDeleted, :rule)
     on conflict (subject, rule_id) do update
        set version = excluded.version, is_active = excluded.is_active,
            is_deleted = excluded.is_deleted, rule = excluded.rule, stored_at = now()
      where known.version < excluded.version`,
    {
      subject: rule.subject,
      ruleId: rule.rule_id,
      version: rule.version,
      isActive: rule.enabled && !rule.deleted,
      isDeleted: rule.deleted,
      // Of a deleted rule only the version is read.
      rule: rule.deleted ? '{}' : JSON.stringify(rule),
    },
  );
  return rowCount > 0;
}

/**
 * Serialises rules and tasks of a subject until the transaction ends. Without it a rule and a task that are stored at
 * the same time would not see each other, and the rule would never be evaluated for the task. Tasks share the lock.
 */
export async function lockRules(tx: Knex.Transaction, subject: string, by: 'rule' | 'task'): Promise<void> {
  const lock = by === 'rule' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await tx.raw(`select ${lock}(hashtextextended(?, 0))`, [`rules of ${subject}`]);
}

/** The rules of a subject that are enabled. */
export async function findActiveRules(db: Knex, subject: string): Promise<StoredRule[]> {
  return db('alarm_rules')
    .where({ subject, is_active: true })
    .select<StoredRule[]>('rule', db.raw('(extract(epoch from stored_at) * 1000)::double precision as "storedMs"'));
}

/** A negative number that no other change has: a fold that read the rules before this change does not overwrite it. */
const lookUpAgain = (): number => -1 - randomInt(2 ** 47);

const DUE = `on conflict (task_id) do update set rule_set = excluded.rule_set, fold_at = excluded.fold_at
      where known.deleted_at is null`;

/** The rules of a subject have changed: folds its running tasks now, which read the rules again. */
export async function scheduleFoldsOf(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw(
    `insert into ingests as known (task_id, rule_set, fold_at)
     select task_id, :ruleSet, now() from task_views
      where subject = :subject and ended_at is null and result_expires_at > vision_now()
      order by task_id
     ${DUE}`,
    { subject, ruleSet: lookUpAgain() },
  );
}

/** A task is new or has another state: folds it now when its subject has rules. Returns whether it has. */
export async function scheduleFold(tx: Knex.Transaction, taskId: string): Promise<boolean> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `insert into ingests as known (task_id, rule_set, fold_at)
     select task_id, :ruleSet, now() from task_views as v
      where task_id = :taskId and exists (select from alarm_rules as r where r.subject = v.subject and r.is_active)
     ${DUE}`,
    { taskId, ruleSet: lookUpAgain() },
  );
  return rowCount > 0;
}

/** Removes rules that were deleted more than `days` ago; returns their number. */
export async function deleteDeletedRules(db: Knex, { days, batch }: { days: number; batch: number }): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from alarm_rules where (subject, rule_id) in (
       select subject, rule_id from alarm_rules
        where is_deleted and stored_at < now() - make_interval(days => :days)
        limit :batch)`,
    { days, batch },
  );
  return rowCount;
}
