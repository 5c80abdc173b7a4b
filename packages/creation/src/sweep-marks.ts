import type { Knex } from 'knex';
import type { Migration } from '@vision/shared/db/migrate';

/** Takes objects down that nothing refers to. One that was taken down before keeps its instant. */
export async function markUnused(db: Knex, name: string, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  await db.raw(
    `insert into sweep_candidates (name, object_key, marked_at)
     select :name, object_key, vision_now() from unnest(:keys::text[]) as object_key
         on conflict do nothing`,
    { name, keys },
  );
}

/** Objects below a prefix that were taken down so long ago, in the order of their keys. */
export async function dueCandidates(
  db: Knex,
  name: string,
  { below, graceMs, limit }: { below: string; graceMs: number; limit: number },
): Promise<string[]> {
  return db('sweep_candidates')
    .where({ name })
    .whereRaw('starts_with(object_key, ?)', [below])
    .whereRaw('marked_at <= vision_now() - make_interval(secs => ?)', [graceMs / 1000])
    .orderBy('object_key')
    .limit(limit)
    .pluck<string[]>('object_key');
}

/** Forgets candidates: they were removed, or something refers to them after all. */
export async function forgetCandidates(db: Knex, name: string, keys: string[]): Promise<void> {
  await db('sweep_candidates').where({ name }).whereIn('object_key', keys).delete();
}

/** Those of these objects that were taken down. */
export async function markedAmong(db: Knex, name: string, keys: string[]): Promise<Set<string>> {
  const marked = await db('sweep_candidates').where({ name }).whereIn('object_key', keys).pluck<string[]>('object_key');
  return new Set(marked);
}

/** How many objects wait for their removal. */
export async function countCandidates(db: Knex, name: string): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ waiting: number }] }>(
    'select count(*)::int as waiting from sweep_candidates where name = ?',
    [name],
  );
  return rows[0].waiting;
}

/** The key up to which a sweep of all objects came; undefined while none is under way. */
export async function reachedKey(db: Knex, name: string): Promise<string | undefined> {
  const [key] = await db('sweep_positions').where({ name }).pluck<string[]>('reached');
  return key;
}

/** Notes how far a sweep of all objects came. */
export async function setReached(db: Knex, name: string, reached: string): Promise<void> {
  await db('sweep_positions').insert({ name, reached }).onConflict('name').merge();
}

/** Notes that no sweep of all objects is under way. */
export async function clearReached(db: Knex, name: string): Promise<void> {
  await db('sweep_positions').where({ name }).delete();
}

/** The tables; every service that stores objects puts it into its list of migrations. */
export const sweepMarksMigration: Migration = {
  name: 'shared-sweep-marks',
  up: async (db) => {
    await db.raw(`
      create table if not exists sweep_candidates (
        name text not null,
        object_key text not null,
        marked_at timestamptz not null,
        primary key (name, object_key)
      )`);
    await db.raw(`
      create table if not exists sweep_positions (
        name text primary key,
        reached text not null
      )`);
  },
  down: async (db) => {
    await db.raw('drop table if exists sweep_candidates, sweep_positions');
  },
};
