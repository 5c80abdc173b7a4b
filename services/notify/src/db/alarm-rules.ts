import type { Knex } from 'knex';
import type { StoredRule } from '../domain/alarm-rule.ts';

/**
 * Blocks other changes of the rules of a subject until the transaction ends, because they are counted and published.
 */
export async function lockRules(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('alarm-rules ' || ?, 0))`, [subject]);
}

/** A rule, possibly a deleted one. */
export async function findRule(db: Knex, subject: string, ruleId: string): Promise<StoredRule | undefined> {
  return db('alarm_rules').where({ subject, rule_id: ruleId }).first<StoredRule | undefined>();
}

/** The rules of a subject by their names, without deleted ones. */
export async function listRules(db: Knex, subject: string): Promise<StoredRule[]> {
  return db('alarm_rules').where({ subject }).whereNull('deleted_at').orderBy('rule_id').select<StoredRule[]>();
}

/** Counts the rules of a subject. */
export async function countRules(tx: Knex.Transaction, subject: string): Promise<number> {
  const row = await tx('alarm_rules')
    .where({ subject })
    .whereNull('deleted_at')
    .count({ count: '*' })
    .first<{ count: number }>();
  return row.count;
}

/**
 * Versions also increase with the time, in seconds: a version that a database lost in a restore is not assigned to
 * another definition. The service that evaluates rules would take that definition for the one it has.
 */
const NEWER = `greatest(r.version + 1, extract(epoch from clock_timestamp())::bigint)`;

/** Stores a rule as a new version. */
export async function saveRule(
  tx: Knex.Transaction,
  rule: Pick<StoredRule, 'subject' | 'rule_id' | 'name' | 'definition'>,
): Promise<StoredRule> {
  const { rows } = await tx.raw<{ rows: [StoredRule] }>(
    `insert into alarm_rules as r (subject, rule_id, version, name, definition, created_at, updated_at)
     values (:subject, :rule_id, extract(epoch from clock_timestamp())::bigint, :name, :definition,
             vision_now(), vision_now())
     on conflict (subject, rule_id) do update
        set version = ${NEWER}, name = excluded.name, definition = excluded.definition,
            created_at = case when r.deleted_at is null then r.created_at else excluded.created_at end,
            updated_at = excluded.updated_at, deleted_at = null
     returning *`,
    { ...rule },
  );
  return rows[0];
}

/** Renames a rule; its version stays. */
export async function renameRule(
  tx: Knex.Transaction,
  { subject, rule_id }: Pick<StoredRule, 'subject' | 'rule_id'>,
  name: string,
): Promise<StoredRule> {
  const { rows } = await tx.raw<{ rows: [StoredRule] }>(
    `update alarm_rules set name = :name, updated_at = vision_now()
      where subject = :subject and rule_id = :rule_id returning *`,
    { subject, rule_id, name },
  );
  return rows[0];
}

/** Marks a rule as deleted, as a new version with this `definition`. */
export async function markRuleDeleted(
  tx: Knex.Transaction,
  { subject, rule_id }: Pick<StoredRule, 'subject' | 'rule_id'>,
  definition: string,
): Promise<StoredRule> {
  const { rows } = await tx.raw<{ rows: [StoredRule] }>(
    `update alarm_rules as r
        set version = ${NEWER}, name = '', definition = :definition, updated_at = vision_now(), deleted_at = vision_now()
      where subject = :subject and rule_id = :rule_id returning *`,
    { subject, rule_id, definition },
  );
  return rows[0];
}

const NEWER_THAN = `greatest(:version::bigint + 1, extract(epoch from clock_timestamp())::bigint)`;

/** Assigns a version above `version` to a rule, possibly a deleted one; its definition stays. */
export async function saveNewer(
  tx: Knex.Transaction,
  { subject, rule_id }: Pick<StoredRule, 'subject' | 'rule_id'>,
  version: number,
): Promise<StoredRule> {
  const { rows } = await tx.raw<{ rows: [StoredRule] }>(
    `update alarm_rules set version = ${NEWER_THAN} where subject = :subject and rule_id = :rule_id returning *`,
    { subject, rule_id, version },
  );
  return rows[0];
}

/** Stores an unknown rule as a deleted one, with a version above `version`. */
export async function saveUnknownRule(
  tx: Knex.Transaction,
  rule: Pick<StoredRule, 'subject' | 'rule_id' | 'definition'>,
  version: number,
): Promise<StoredRule> {
  const { rows } = await tx.raw<{ rows: [StoredRule] }>(
    `insert into alarm_rules (subject, rule_id, version, name, definition, created_at, updated_at, deleted_at)
     values (:subject, :rule_id, ${NEWER_THAN}, '', :definition, vision_now(), vision_now(), vision_now())
     returning *`,
    { ...rule, version },
  );
  return rows[0];
}

/** Claims up to `limit` rules that were last published more than `hours` ago, and records them as published now. */
export async function claimUnpublished(tx: Knex.Transaction, hours: number, limit: number): Promise<StoredRule[]> {
  const { rows } = await tx.raw<{ rows: StoredRule[] }>(
    `update alarm_rules set published_at = now() where (subject, rule_id) in (
       select subject, rule_id from alarm_rules
        where deleted_at is null and published_at < now() - make_interval(hours => :hours)
        order by published_at limit :limit for update skip locked)
     returning *`,
    { hours, limit },
  );
  return rows;
}

/** Removes up to `limit` rules that were deleted more than `days` ago. @returns their number */
export async function removeOldRules(db: Knex, days: number, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from alarm_rules where (subject, rule_id) in (
       select subject, rule_id from alarm_rules where deleted_at < vision_now() - make_interval(days => :days)
        order by deleted_at limit :limit for update skip locked)`,
    { days, limit },
  );
  return result.rowCount;
}
