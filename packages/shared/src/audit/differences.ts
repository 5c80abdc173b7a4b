import type { Knex } from 'knex';
import type { Difference } from '@vision/contracts/audit';
import type { Migration } from '../db/migrate.ts';

/** A pair of states that do not agree; `id` names it within its kind. */
export interface Found {
  id: string;
  details: Record<string, unknown>;
}

/** Stores differences; a known one keeps the instant at which it was first seen. */
export async function noteDifferences(db: Knex, kind: string, found: Found[]): Promise<void> {
  if (found.length === 0) return;
  await db.raw(
    `insert into audit_differences (kind, id, details)
     select :kind, f.id, f.details from json_to_recordset(:found::json) as f (id text, details jsonb)
     on conflict (kind, id) do update set details = excluded.details`,
    { kind, found: JSON.stringify(found) },
  );
}

/** Ids of a kind, those not checked for the longest time first. */
export async function dueDifferences(db: Knex, kind: string, limit: number): Promise<string[]> {
  return db('audit_differences').where({ kind }).orderBy('looked_at').limit(limit).pluck<string[]>('id');
}

/** Keeps the checked differences that still exist and deletes the others. */
export async function settleDifferences(db: Knex, kind: string, looked: string[], still: Found[]): Promise<void> {
  const gone = new Set(looked);
  for (const { id } of still) gone.delete(id);
  await db('audit_differences')
    .where({ kind })
    .whereIn('id', [...gone])
    .delete();
  await db.raw(
    `update audit_differences as known set details = f.details, looked_at = now()
       from json_to_recordset(:still::json) as f (id text, details jsonb)
      where known.kind = :kind and known.id = f.id`,
    { kind, still: JSON.stringify(still) },
  );
}

/** Differences old enough to count that no replica has reported yet. */
export async function claimUntold(db: Knex, ageMs: number): Promise<(Found & { kind: string })[]> {
  const { rows } = await db.raw<{ rows: (Found & { kind: string })[] }>(
    `update audit_differences set told = true
      where not told and first_seen <= now() - make_interval(secs => :ageS) returning kind, id, details`,
    { ageS: ageMs / 1000 },
  );
  return rows;
}

export interface DifferencesOfKind {
  kind: string;
  /** Number of differences old enough to count. */
  counting: number;
  /** Whether some of these have not been reported yet. */
  isUntold: boolean;
}

/** Summary of each kind with known differences of any age. */
export async function sumUpDifferences(db: Knex, ageMs: number): Promise<DifferencesOfKind[]> {
  const { rows } = await db.raw<{ rows: DifferencesOfKind[] }>(
    `select kind, count(*) filter (where is_old)::int as counting, bool_or(is_old and not told) as "isUntold"
       from (select kind, told, first_seen <= now() - make_interval(secs => :ageS) as is_old
               from audit_differences) as known
      group by kind`,
    { ageS: ageMs / 1000 },
  );
  return rows;
}

/** Differences that count, oldest first. */
export async function selectDifferences(db: Knex, ageMs: number, limit: number): Promise<Difference[]> {
  const { rows } = await db.raw<{ rows: (Found & { kind: string; first_seen: Date })[] }>(
    `select kind, id, details, first_seen from audit_differences
      where first_seen <= now() - make_interval(secs => :ageS) order by first_seen, kind, id limit :limit`,
    { ageS: ageMs / 1000, limit },
  );
  return rows.map(({ first_seen: since, ...row }) => ({ ...row, since: since.toISOString() }));
}

/** Changes after `from`, up to `to`. */
export interface Window {
  from: Date;
  to: Date;
}

/**
 * SQL with the bindings `kind` and `lag`: start of the next window. A mark in the future was set while the clock was
 * ahead: current changes would lie before it, so it is ignored.
 */
export const WINDOW_START = `coalesce((select mark from audit_marks where kind = :kind and mark <= now()),
                                      now() - interval '1 hour' - :lag::interval)`;

/**
 * The changes that an audit has not checked yet: from its mark, an hour ago the first time, until `lagMs` ago. All our
 * transactions are shorter than that, so none commits changes before the mark. Call `setMark` after the check.
 */
export async function windowOf(db: Knex, kind: string, lagMs: number): Promise<Window> {
  const { rows } = await db.raw<{ rows: Window[] }>(`select ${WINDOW_START} as from, now() - :lag::interval as to`, {
    kind,
    lag: `${lagMs} milliseconds`,
  });
  const [window] = rows;
  if (!window) throw new Error('the database told no time');
  return window;
}

/** Records that all changes up to here were checked. A mark never moves back, unless it lies in the future. */
export async function setMark(db: Knex, kind: string, mark: Date | string): Promise<void> {
  await db.raw(
    `insert into audit_marks as known (kind, mark) values (?, ?)
     on conflict (kind) do update
       set mark = case when known.mark <= now() then greatest(known.mark, excluded.mark) else excluded.mark end`,
    [kind, mark],
  );
}

/** The instant up to which changes were checked; undefined without a mark. */
export async function markOf(db: Knex, kind: string): Promise<Date | undefined> {
  const [mark] = await db('audit_marks').where({ kind }).pluck<Date[]>('mark');
  return mark;
}

/** Deletes the mark, so that the next run starts over. */
export async function clearMark(db: Knex, kind: string): Promise<void> {
  await db('audit_marks').where({ kind }).delete();
}

/** The tables; every service that audits puts it into its list of migrations. */
export const auditMigration: Migration = {
  name: 'shared-audit',
  up: async (db) => {
    await db.raw(`
      create table if not exists audit_differences (
        kind text not null,
        id text not null,
        details jsonb not null,
        first_seen timestamptz not null default now(),
        looked_at timestamptz not null default now(),
        told boolean not null default false,
        primary key (kind, id)
      )`);
    await db.raw('create index if not exists audit_differences_due on audit_differences (kind, looked_at)');
    await db.raw(`
      create table if not exists audit_marks (
        kind text primary key,
        mark timestamptz not null
      )`);
  },
  down: async (db) => {
    await db.raw('drop table if exists audit_differences, audit_marks');
  },
};
