import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { z } from 'zod';
import type { Migration } from '@vision/shared/db/migrate';
import type { Logger } from '@vision/shared/logger';
import { createGauge } from '@vision/shared/telemetry/instruments';
import { bucketMetrics } from '@vision/shared/telemetry/shared-metrics';
import type { ObjectStore } from './object-store.ts';
import type { NamedObjects } from './own-prefix.ts';

/** Objects of one kind in a bucket, and the database whose rows name them. */
export interface OwnedObjects extends NamedObjects {
  logger: Logger;
  store: Pick<ObjectStore, 'get' | 'list' | 'put' | 'remove'>;
  /** Those of these keys that nothing refers to. */
  findUnused: (keys: string[]) => Promise<string[]>;
}

/**
 * - `owner`: the database wrote these objects, and no other database did.
 * - `shared`: another database marked them too. What a key says is its own remains its own.
 * - `unknown`: no database marked them, and this one knows less than 95 % of them.
 * - `restored`: the database is an older copy, or runs in another place than before.
 */
export type Standing = 'owner' | 'shared' | 'unknown' | 'restored';
const OFF = ['unknown', 'restored'] as const;

/** What an operator says about a database: that it is the one to go on with, or that it owns the objects alone. */
export type Decision = 'resume' | 'adopt';

/** Below it each database that sweeps a bucket keeps the object that names it. */
export const MARKS = '.vision-owner/';
const MARK_BYTES = 4_096;
const markSchema = z.object({ generation: z.int().min(0) });
const PAGE = 500;
/** Share of a page that a database must know to become the owner of a bucket without marks. */
const KNOWN_SHARE = 0.95;

interface Owner {
  id: string;
  place: string | null;
  /** Grows at each call. */
  generation: number;
  is_adopted: boolean;
  decision: Decision | null;
}

/**
 * How a database stands to the objects of a bucket. Each database keeps a mark there, with a number that both raise at
 * each call: a database behind its own mark is a copy from before. For a missing row the `owner` may remove anything,
 * a database that shares the bucket what lies below its own prefix; one that is `restored` may remove nothing at all.
 */
export async function standingOf(objects: OwnedObjects): Promise<Standing> {
  const standing = await determine(objects);
  const off = createGauge(bucketMetrics.sweepsOff);
  for (const reason of OFF) off.record(reason === standing ? 1 : 0, { objects: objects.name, reason });
  if (standing === 'unknown' || standing === 'restored')
    objects.logger.warn({ sweep: objects.name, reason: standing }, 'sweeps are off: database may not own the bucket');
  return standing;
}

/** Notes a decision; the next call of `standingOf` applies it. */
export async function decide(db: Knex, name: string, decision: Decision): Promise<void> {
  await db('bucket_owner').insert({ name, id: randomUUID(), decision }).onConflict('name').merge(['decision']);
}

async function determine(objects: OwnedObjects): Promise<Standing> {
  const { db, store, name } = objects;
  const own = keyOf(name, (await ownerOf(db, name)).id);
  const marks = await marksOf(objects);
  const marked = marks.includes(own) ? await generationOf(store, own) : 0;
  // The row is read after its mark: a replica that raises the number meanwhile raises it in the database before.
  const [owner, place] = await Promise.all([ownerOf(db, name), placeOf(db)]);
  const hasMoved = owner.place !== null && owner.place !== place;
  if ((hasMoved || owner.generation < marked) && owner.decision !== 'resume') return 'restored';
  const others = marks.filter((key) => key !== own);
  const isAlone = others.length === 0 || owner.decision === 'adopt';
  const isAdopted = owner.is_adopted || owner.decision === 'adopt' || (isAlone && (await knowsNearlyAll(objects)));
  if (isAlone && !isAdopted) return 'unknown';
  await raise(objects, owner, { place, marked, isAdopted });
  if (owner.decision === 'adopt') await store.remove(others);
  return isAlone ? 'owner' : 'shared';
}

const keyOf = (name: string, id: string) => `${MARKS}${name}/${id}`;

async function marksOf({ store, name }: OwnedObjects): Promise<string[]> {
  const marks: string[] = [];
  for await (const { key } of store.list(keyOf(name, ''))) marks.push(key);
  return marks;
}

async function generationOf(store: OwnedObjects['store'], key: string): Promise<number> {
  const mark = await store.get(key, MARK_BYTES);
  return markSchema.parse(JSON.parse(mark.toString('utf8'))).generation;
}

async function ownerOf(db: Knex, name: string): Promise<Owner> {
  await db('bucket_owner').insert({ name, id: randomUUID() }).onConflict('name').ignore();
  const owner = await db<Owner & { name: string }>('bucket_owner')
    .where({ name })
    .first('id', 'place', 'generation', 'is_adopted', 'decision');
  if (!owner) throw new Error('the row of the bucket vanished');
  return owner;
}

/**
 * Where a database is: its server and its number there. A copy beside it or on another server is in another place. The
 * timeline says nothing here: a failover that lost nothing changes it too.
 */
async function placeOf(db: Knex): Promise<string> {
  const { rows } = await db.raw<{ rows: [{ oid: string; readable: boolean }] }>(
    `select oid::text as oid, has_function_privilege('pg_control_system()', 'execute') as readable
       from pg_database where datname = current_database()`,
  );
  const [{ oid, readable }] = rows;
  if (!readable) return oid;
  const control = await db.raw<{ rows: [{ id: string }] }>(
    'select system_identifier::text as id from pg_control_system()',
  );
  return `${control.rows[0].id}/${oid}`;
}

async function knowsNearlyAll({ store, prefix, findUnused }: OwnedObjects): Promise<boolean> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) if (keys.push(key) === PAGE) break;
  if (keys.length === 0) return true;
  return (await findUnused(keys)).length <= (1 - KNOWN_SHARE) * keys.length;
}

/** The database first: one that died before the bucket followed is ahead of its mark, which is no sign of a copy. */
async function raise(
  { db, store, name }: OwnedObjects,
  { id, decision }: Owner,
  { place, marked, isAdopted }: { place: string; marked: number; isAdopted: boolean },
): Promise<void> {
  const { rows } = await db.raw<{ rows: [{ generation: number }] }>(
    `update bucket_owner
        set place = :place, is_adopted = :isAdopted, generation = greatest(generation, :marked) + 1,
            decision = nullif(decision, :decision)
      where name = :name
     returning generation`,
    { name, place, isAdopted, marked, decision },
  );
  const body = Buffer.from(JSON.stringify({ generation: rows[0].generation }));
  await store.put({ key: keyOf(name, id), body, contentType: 'application/json' });
}

/** The table; every service that stores objects puts it into its list of migrations. */
export const bucketOwnerMigration: Migration = {
  name: 'shared-bucket-owner',
  up: async (db) => {
    await db.raw(`
      create table if not exists bucket_owner (
        name text primary key,
        id uuid not null,
        place text,
        generation bigint not null default 0,
        is_adopted boolean not null default false,
        decision text check (decision in ('resume', 'adopt'))
      )`);
  },
  down: async (db) => {
    await db.raw('drop table if exists bucket_owner');
  },
};
