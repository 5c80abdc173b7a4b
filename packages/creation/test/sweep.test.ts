import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { auditMigration } from '@vision/shared/audit/differences';
import { firstIdAt } from '@vision/contracts/ids';
import { clockMigration } from '@vision/shared/db/clock';
import { createDb } from '@vision/shared/db/knex';
import type { Migration } from '@vision/shared/db/migrate';
import { createLogger } from '@vision/shared/logger';
import { bucketOwnerMigration, standingOf } from '@vision/objects/bucket-owner';
import { createObjectStore } from '@vision/objects/object-store';
import type { ObjectStore } from '@vision/objects/object-store';
import { ownPrefixOf } from '@vision/objects/own-prefix';
import type { StoredObject } from '@vision/objects/objects';
import { sweepMarksMigration } from '../src/sweep-marks.ts';
import { sweepAll, sweepInTurn } from '../src/sweep.ts';
import type { Sweep } from '../src/sweep.ts';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const schema: Migration = {
  name: '0001-owners',
  up: async (db) => {
    await db.raw('create table owners (key text primary key)');
  },
  down: async (db) => {
    await db.raw('drop table owners');
  },
};

const metrics = testMetrics();
let database: TestDatabase;
let s3: TestS3;
let store: ObjectStore;
/** Of the test that runs. */
let prefix: string;
let ownPrefix: string;
const clocks: Knex[] = [];
const lines: Record<string, unknown>[] = [];
const logger = createLogger('sweep', 'info', {
  write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
});

beforeAll(async () => {
  database = await createTestDatabase([
    schema,
    clockMigration,
    auditMigration,
    bucketOwnerMigration,
    sweepMarksMigration,
  ]);
  s3 = await testS3();
  store = createObjectStore({ ...s3 });
});
beforeEach(async () => {
  prefix = `${randomUUID()}/`;
  expect(await standingOf(sweepFrom(0))).toBe('owner');
  ownPrefix = await ownPrefixOf(sweepFrom(0));
});
afterEach(async () => {
  await Promise.all(clocks.splice(0).map((db) => db.destroy()));
});
afterAll(async () => {
  store.close();
  await s3.close();
  await database.drop();
});

test('a sweep lists what has become old enough since the last one, and no more', async () => {
  const old = await putAll([1, 2, 3, 4, 5].map(() => keyAt(-10 * HOUR)));
  await own(old.slice(1));
  expect(await sweepAt(61)).toBe(1);
  const fresh = await putAll([1, 2, 3].map(() => keyAt(30 * MINUTE)));
  const young = await putAll([keyAt(90 * MINUTE)]);
  await own(fresh.slice(0, 1));
  const before = await counts();
  expect(await sweepAt(120)).toBe(2);
  expect(await since(before)).toEqual({ new: 3, all: 0, lists: 2 });
  expect(await stored()).toEqual([...old.slice(1), ...fresh.slice(0, 1), ...young].sort());
  // No object has become old enough since.
  const between = await counts();
  expect(await sweepAt(120)).toBe(0);
  expect(await since(between)).toEqual({ new: 0, all: 0, lists: 2 });
  const after = await counts();
  expect(await sweepAt(160)).toBe(1);
  expect(await since(after)).toEqual({ new: 1, all: 0, lists: 2 });
});

test('the next full scan removes late objects and keys of other forms', async () => {
  const known = await putAll([keyAt(-10 * HOUR), `${prefix}of-another-form`]);
  await own(known);
  await sweepAt(61);
  const late = await putAll([keyAt(-10 * HOUR), `${prefix}0`, `${prefix}${randomUUID()}`, `${prefix}zzz`]);
  expect(await sweepAt(62)).toBe(0);
  expect(await stored()).toEqual([...known, ...late].sort());
  await lookThroughAllAgain();
  expect(await sweepAt(63)).toBe(4);
  expect(await stored()).toEqual([...known].sort());
});

test('nothing younger than the age is removed, however old its key is', async () => {
  const keys = await putAll([keyAt(-10 * HOUR), keyAt(-2 * MINUTE), `${prefix}of-another-form`]);
  expect(await sweepAt(59)).toBe(0);
  expect(await sweepAll(sweepFrom(59))).toBe(0);
  expect(await stored()).toEqual(keys.sort());
  expect(await sweepAll(sweepFrom(61))).toBe(3);
});

test('an object with a long upload is removed when it is old enough, without a full scan', async () => {
  await sweepAt(-120);
  await putAll([keyAt(-70 * MINUTE)]);
  const uploadTook = { store: dated(20), uploadMs: 55 * MINUTE };
  expect(await sweepAt(0, uploadTook)).toBe(0);
  const before = await counts();
  expect(await sweepAt(41, uploadTook)).toBe(1);
  expect(await since(before)).toMatchObject({ all: 0 });
});

test.each(['fails', 'is stopped'])('a full scan that %s continues where it was', async (how) => {
  const keys = Array.from({ length: 1_200 }, (_, n) => keyAt(-10 * HOUR + n * 1_000));
  const left = new Set(keys);
  const listed = (failsAt?: string): Sweep['store'] => ({
    ...store,
    list: async function* (below, after = '') {
      if (below !== prefix) {
        yield* store.list(below);
        return;
      }
      for (const key of [...left].filter((one) => one > after)) {
        if (key === failsAt) throw new Error('the store went away');
        yield await Promise.resolve({ key, bytes: 1, modifiedAt: new Date() });
      }
    },
    remove: (gone) => {
      for (const key of gone) left.delete(key);
      return Promise.resolve();
    },
  });
  const stop = new AbortController();
  const findUnused = () => {
    if (how === 'is stopped') stop.abort();
    return Promise.resolve([]);
  };
  const cutShort = sweepAt(61, { store: listed(keys[700]), findUnused }, stop.signal);
  await (how === 'fails' ? expect(cutShort).rejects.toThrow('the store went away') : cutShort);
  // One page of 500 was done, and its last object is checked again.
  await own(keys.filter((_, n) => n % 10 > 0));
  expect(await sweepAt(61, { store: listed() })).toBe(70);
  expect(left.size).toBe(1_130);
  const before = await counts();
  expect(await sweepAt(62, { store: listed() })).toBe(0);
  expect(await since(before)).toMatchObject({ all: 0 });
});

test('a database that does not know more than a fifth of the stored objects removes none of them', async () => {
  const written = await putAll(Array.from({ length: 80 }, (_, n) => keyAt(-10 * HOUR + n * 1_000)));
  expect(await sweepAt(61)).toBe(0);
  expect(await sweepAll(sweepFrom(62))).toBe(0);
  expect(await stored()).toEqual(written);
  expect(await metrics.sumOf('vision.sweep.refused')).toBe(160);
  expect(lines.filter((line) => line['level'] === 'error')).toHaveLength(2);
  expect(lines.at(-1)).toMatchObject({ level: 'error', sweep: prefix.slice(0, -1), objects: 80, unknown: 80 });
  await own(written.slice(20));
  expect(await sweepAll(sweepFrom(63))).toBe(20);
});

test('what belongs to nothing is marked first, and removed a week later if it still belongs to nothing', async () => {
  const DAY = 24 * 60;
  const keys = await putAll([-10, -9, -8].map((hours) => keyAt(hours * HOUR)));
  const week = { graceMs: 7 * DAY * MINUTE };
  expect(await sweepAt(61, week)).toBe(0);
  expect(await sweepAll({ ...sweepFrom(62), ...week })).toBe(0);
  expect(await sweepAt(61 + 7 * DAY - 1, week)).toBe(0);
  expect(await stored()).toEqual(keys);
  expect(await metrics.sumOf('vision.sweep.candidates', { sweep: prefix.slice(0, -1) })).toBe(3);
  await own(keys.slice(0, 1));
  expect(await sweepAt(62 + 7 * DAY, week)).toBe(2);
  expect(await stored()).toEqual(keys.slice(0, 1));
  expect(await metrics.sumOf('vision.sweep.candidates', { sweep: prefix.slice(0, -1) })).toBe(0);
});

test('of replicas that sweep at the same time one does, and it keeps its turn while it goes on', async () => {
  await putAll([keyAt(-10 * HOUR)]);
  const sweep = () => sweepInTurn(sweepFrom(61), { everyMs: HOUR });
  expect((await Promise.all([sweep(), sweep(), sweep()])).sort()).toEqual([1, undefined, undefined]);
  const turn = database.db('audit_marks').where({ kind: `${prefix.slice(0, -1)}_swept` });
  const hourPasses = () => turn.clone().update({ mark: new Date(Date.now() - HOUR) });
  await hourPasses();
  await lookThroughAllAgain();
  await putAll([keyAt(-10 * HOUR)]);
  const findUnused = (keys: string[]) => hourPasses().then(() => keys);
  expect(await sweepInTurn({ ...sweepFrom(61), findUnused }, { everyMs: HOUR })).toBe(1);
  expect(await sweep()).toBeUndefined();
});

/** A key with an id created `ms` from now. */
const keyAt = (ms: number) =>
  ownPrefix + firstIdAt(new Date(Date.now() + ms)).slice(0, -12) + randomBytes(6).toString('hex');

async function putAll(keys: string[]): Promise<string[]> {
  for (const key of keys) await store.put({ key, body: Buffer.from('x'), contentType: 'video/mp4' });
  return keys;
}

const own = (keys: string[]) => database.db('owners').insert(keys.map((key) => ({ key })));

/** A sweep whose clock is `minutes` ahead; objects are removed when they are an hour old. */
function sweepFrom(minutes: number): Sweep {
  const db = createDb({ url: database.url, applicationName: 'sweep', clockOffset: `${minutes} minutes` });
  clocks.push(db);
  return {
    db,
    logger,
    store,
    name: prefix.slice(0, -1),
    prefix,
    firstKeyAt: firstIdAt,
    ageMs: HOUR,
    uploadMs: 10 * MINUTE,
    fullEveryMs: HOUR,
    graceMs: 0,
    findUnused: async (keys) => {
      const owned = new Set(await db('owners').whereIn('key', keys).pluck<string[]>('key'));
      return keys.filter((key) => !owned.has(key));
    },
  };
}

const sweepAt = (minutes: number, changed: Partial<Sweep> = {}, signal?: AbortSignal) =>
  sweepInTurn({ ...sweepFrom(minutes), ...changed }, { everyMs: 0, signal });

/** Makes the next full scan due. */
const lookThroughAllAgain = () =>
  database
    .db('audit_marks')
    .where({ kind: `${prefix.slice(0, -1)}_looked_through` })
    .update({ mark: new Date(0) });

/** The store, with objects that were completed `minutesAgo`. */
function dated(minutesAgo: number): Sweep['store'] {
  async function* list(below: string, after?: string): AsyncGenerator<StoredObject> {
    for await (const object of store.list(below, after))
      yield { ...object, modifiedAt: new Date(Date.now() - minutesAgo * MINUTE) };
  }
  return { ...store, list };
}

const stored = async () => (await s3.objects()).filter((name) => name.startsWith(prefix)).sort();

interface Counts {
  new: number;
  all: number;
  /** Calls to list objects; one of them reads the owner marks. */
  lists: number;
}

async function counts(): Promise<Counts> {
  const objects = (look: string) => metrics.sumOf('vision.sweep.objects', { look });
  const lists = metrics.sumOf('vision.upstream.duration', { upstream: 's3', operation: 'list' });
  const [ofNew = 0, ofAll = 0, requests = 0] = await Promise.all([objects('new'), objects('all'), lists]);
  return { new: ofNew, all: ofAll, lists: requests };
}

async function since(before: Counts): Promise<Counts> {
  const now = await counts();
  return { new: now.new - before.new, all: now.all - before.all, lists: now.lists - before.lists };
}
