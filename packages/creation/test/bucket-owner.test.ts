import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { auditMigration } from '@vision/shared/audit/differences';
import { firstIdAt } from '@vision/contracts/ids';
import { clockMigration } from '@vision/shared/db/clock';
import { createLogger } from '@vision/shared/logger';
import { bucketOwnerMigration, decide, standingOf } from '@vision/objects/bucket-owner';
import { createObjectStore } from '@vision/objects/object-store';
import type { ObjectStore } from '@vision/objects/object-store';
import { ownPrefixOf } from '@vision/objects/own-prefix';
import { sweepMarksMigration } from '../src/sweep-marks.ts';
import { sweepAll, sweepInTurn } from '../src/sweep.ts';
import type { Sweep } from '../src/sweep.ts';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';

const metrics = testMetrics();
let first: TestDatabase;
let second: TestDatabase;
let s3: TestS3;
let store: ObjectStore;
/** Of the test that runs. */
let prefix: string;
/** Keys that the databases know. */
const known = new Set<string>();

beforeAll(async () => {
  const schema = [clockMigration, auditMigration, bucketOwnerMigration, sweepMarksMigration];
  [first, second] = await Promise.all([createTestDatabase(schema), createTestDatabase(schema)]);
  s3 = await testS3();
  store = createObjectStore({ ...s3 });
});
beforeEach(() => {
  prefix = `${randomUUID()}/`;
  known.clear();
});
afterAll(async () => {
  store.close();
  await s3.close();
  await Promise.all([first.drop(), second.drop()]);
});

test('a new database removes nothing of a bucket that another one filled', async () => {
  await put(3);
  expect(await sweepAll(of(second))).toBe(0);
  expect(await sweepInTurn(of(second), { everyMs: 0 })).toBeUndefined();
  expect(await stored()).toBe(3);
  expect(await standingOf(of(second))).toBe('unknown');
  expect(await metrics.sumOf('vision.bucket.sweeps_off', { objects: of(first).name, reason: 'unknown' })).toBe(1);
});

test('a database becomes the owner of an empty bucket, and of one of which it knows 95 %', async () => {
  expect(await standingOf(of(first))).toBe('owner');
  prefix = `${randomUUID()}/`;
  const keys = await put(20);
  for (const key of keys.slice(2)) known.add(key);
  expect(await standingOf(of(first))).toBe('unknown');
  known.add(keys[1] ?? '');
  expect(await standingOf(of(first))).toBe('owner');
  expect(await sweepAll(of(first))).toBe(1);
});

test('two installations with one bucket remove what is their own, until an operator gives it to one', async () => {
  expect(await standingOf(of(first))).toBe('owner');
  expect(await standingOf(of(second))).toBe('shared');
  expect(await metrics.sumOf('vision.bucket.sweeps_off', { objects: of(second).name })).toBe(0);
  const ownOf = (database: TestDatabase) => ownPrefixOf(of(database));
  await put(3);
  await put(2, await ownOf(first));
  const [, kept] = await put(2, await ownOf(second));
  known.add(kept ?? '');
  expect(await sweepAll(of(first))).toBe(2);
  expect(await sweepAll(of(second))).toBe(1);
  expect(await stored()).toBe(4);
  await put(2, await ownOf(second));
  expect(await sweepInTurn(of(second), { everyMs: 0 })).toBe(2);
  await decide(first.db, of(first).name, 'adopt');
  expect(await sweepAll(of(first))).toBe(3);
  expect(await standingOf(of(second))).toBe('shared');
});

test('a copy of a database in another place is restored, until an operator goes on with it', async () => {
  await standingOf(of(first));
  const rows = await first.db<object>('bucket_owner').where('name', of(first).name).select();
  await second.db('bucket_owner').insert(rows);
  await put(3);
  expect(await standingOf(of(second))).toBe('restored');
  expect(await sweepAll(of(second))).toBe(0);
  expect(await standingOf(of(first))).toBe('owner');
  await decide(second.db, of(second).name, 'resume');
  expect(await standingOf(of(second))).toBe('owner');
  // The database that the copy replaces is behind now.
  expect(await standingOf(of(first))).toBe('restored');
});

test('a database that is set back in its place is restored; one that is ahead of the bucket is not', async () => {
  await standingOf(of(first));
  const row = first.db('bucket_owner').where({ name: of(first).name });
  await row.clone().increment('generation', 5);
  expect(await standingOf(of(first))).toBe('owner');
  await row.clone().update({ generation: 6 });
  await put(3);
  expect(await standingOf(of(first))).toBe('restored');
  expect(await sweepInTurn(of(first), { everyMs: 0 })).toBeUndefined();
  await decide(first.db, of(first).name, 'resume');
  expect(await standingOf(of(first))).toBe('owner');
  expect(await standingOf(of(first))).toBe('owner');
  expect(await row.clone().first('decision', 'generation')).toEqual({ decision: null, generation: 9 });
});

test('a replica that asks while another one asks does not take the other for a later copy', async () => {
  await standingOf(of(first));
  const beside: Sweep['store'] = {
    ...store,
    get: async (...wanted) => {
      await standingOf(of(first));
      return store.get(...wanted);
    },
  };
  expect(await standingOf({ ...of(first), store: beside })).toBe('owner');
});

async function put(count: number, below = prefix): Promise<string[]> {
  const keys = Array.from({ length: count }, () => below + randomUUID()).sort();
  for (const key of keys) await store.put({ key, body: Buffer.from('x'), contentType: 'video/mp4' });
  return keys;
}

const stored = async () => (await s3.objects()).filter((name) => name.startsWith(prefix)).length;

const of = ({ db }: TestDatabase): Sweep => ({
  db,
  logger: createLogger('bucket-owner', 'silent'),
  store,
  name: prefix.slice(0, -1),
  prefix,
  firstKeyAt: firstIdAt,
  ageMs: -60_000,
  uploadMs: 60_000,
  fullEveryMs: 0,
  graceMs: 0,
  findUnused: (keys) => Promise.resolve(keys.filter((key) => !known.has(key))),
});
