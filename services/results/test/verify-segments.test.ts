import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { inTransaction } from '@vision/shared/db/transaction';
import { testMetrics } from '@vision/shared/testing/metrics';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { segmentsAfter } from '../src/db/segments.ts';
import { createSignals } from '../src/signals.ts';
import { compactFrames } from '../src/use-cases/segments/compact-frames.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { verifySegments } from '../src/use-cases/segments/verify-segments.ts';
import { frame, logger, mark, newTaskId, testResults, testSettings } from './support.ts';

const metrics = testMetrics();
let database: TestDatabase;
let s3: TestS3;
let store: SegmentStore;
beforeAll(async () => {
  [database, s3] = await Promise.all([testResults(), testS3()]);
  store = createSegmentStore(s3);
});
afterAll(async () => {
  store.close();
  await Promise.all([database.drop(), s3.close()]);
});
beforeEach(async () => {
  await copies().delete();
});

const signals = createSignals(logger);
const settings = { ...testSettings, hotMs: 0 };
const copies = () => database.db('segment_copies');
const oldest = () => metrics.sumOf('vision.results.oldest_unverified_segment_age');

test('the gauge grows while the store stores nothing, although each attempt postpones its task', async () => {
  const lag = () => metrics.sumOf('vision.results.compaction_lag');
  const { db } = database;
  const task = await keepTask();
  const due = () => db('ingests').where({ task_id: task }).update({ compact_at: db.fn.now() });
  const refused = () => Promise.reject(fail.sysUnavailable('object_store_unavailable', new Error('AccessDenied')));
  await due();
  await expect(compact({ ...store, put: refused })).rejects.toThrow();
  // Nothing is due for as long as the lease of the attempt lasts.
  await until(async () => {
    await compact(store);
    return ((await lag()) ?? 0) > 0.2;
  });
  await due();
  await compact(store);
  await compact(store);
  expect(await lag()).toBe(0);
});

/** Stores the frames of a task that has ended. @returns the task */
async function keepTask(): Promise<string> {
  const { db } = database;
  const task = newTaskId();
  const frames = Array.from({ length: 50 }, (_, seq) => ({ kind: 'frame' as const, data: frame(task, seq) }));
  const keeping = { partitions: createPartitionKeeper(db, 90), settings, signals, wakeRelay: () => undefined };
  await storeFrames(keeping, [...frames, { kind: 'end', data: mark(task) }], (work) => inTransaction(db, work));
  return task;
}

function compact(into: SegmentStore): Promise<number> {
  const { db } = database;
  const loops = createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);
  const deps = { db, ownPrefix: ownSegmentPrefix({ db }), loops, settings, signals, store: into };
  return compactFrames(deps, new AbortController().signal);
}

const objectsOf = (task: string) =>
  database.db('segments').where({ task_id: task }).whereNotNull('object_key').pluck<string[]>('object_key');

/** Moves the frames of an ended task to this store. @returns the key of their object */
async function compacted(into: SegmentStore): Promise<string> {
  const task = await keepTask();
  await compact(into);
  return (await objectsOf(task))[0] ?? '';
}

/** Runs a round in which every copy is due. */
async function verify(by = store): Promise<number> {
  await copies().update({ lease_until: new Date(0) });
  return verifySegments({ db: database.db, signals, store: by });
}

/** Returns the object that a reader gets. */
async function read(objectKey: string): Promise<Buffer> {
  const row = await database.db('segments').where({ object_key: objectKey }).first<{ task_id: string; day: string }>();
  const range = { taskId: row.task_id, day: row.day, upToPosition: 1_000 };
  const [segment] = await segmentsAfter(database.db, range, { seq: -1, limit: 1 });
  if (!segment) throw new Error('there is no segment');
  return createSegmentStore(s3).get({ ...segment, objectKey });
}

test('frames stay in the database until their object was read back', async () => {
  const key = await compacted(store);
  expect(await copies().pluck('object_key')).toEqual([key]);
  await verify();
  expect(await copies()).toEqual([]);
  expect(await oldest()).toBe(0);
});

test('an object that the store has truncated is written again from the copy', async () => {
  const lying = { ...store, put: (key: string, body: Buffer) => store.put(key, body.subarray(0, body.length / 2)) };
  const key = await compacted(lying);
  await expect(read(key)).rejects.toThrow();
  await verify();
  expect(await copies().pluck('object_key')).toEqual([key]);
  expect((await read(key)).length).toBeGreaterThan(0);
  await verify();
  expect(await copies()).toEqual([]);
});

test('an object that the store lost, or holds with other bytes, is written again from the copy', async () => {
  const [lost, other] = [await compacted(store), await compacted(store)];
  await s3.client.removeObject(s3.bucket, lost);
  await s3.client.putObject(s3.bucket, other, Buffer.alloc(100_000));
  await verify();
  await verify();
  expect(await copies()).toEqual([]);
  for (const key of [lost, other]) expect((await read(key)).length).toBeGreaterThan(0);
});

test('while the store is unavailable copies stay, and their age is shown', async () => {
  await compacted(store);
  await copies().update({ stored_at: new Date(Date.now() - 7_200_000) });
  const away = createSegmentStore({ ...s3, endpoint: 'http://127.0.0.1:1' });
  await expect(verify(away)).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(await copies()).toHaveLength(1);
  expect(await oldest()).toBeGreaterThan(7_000);
});

test('an object of an expired day is not restored by a repair', async () => {
  const key = await compacted(store);
  await s3.client.removeObject(s3.bucket, key);
  const expiring = {
    ...store,
    put: async (objectKey: string, body: Buffer) => {
      await copies().delete();
      await store.put(objectKey, body);
    },
  };
  await verify(expiring);
  expect(await s3.objects()).not.toContain(key);
});

test('tasks are moved concurrently, and a gauge shows how long the first of them has waited', async () => {
  const lag = () => metrics.sumOf('vision.results.compaction_lag');
  const tasks = [await keepTask(), await keepTask(), await keepTask()];
  const hourAgo = new Date(Date.now() - 3_600_000);
  await database.db('ingests').whereIn('task_id', tasks).update({ compact_at: hourAgo });
  const begun = new Set<string>();
  const put: SegmentStore['put'] = async (key, body) => {
    begun.add(key);
    // No object is stored before those of the other tasks have been begun.
    await until(() => begun.size === tasks.length);
    return store.put(key, body);
  };
  await compact({ ...store, put });
  for (const task of tasks) expect(await objectsOf(task)).toHaveLength(1);
  expect(await lag()).toBeGreaterThanOrEqual(3_600);
  await compact(store);
  expect(await lag()).toBe(0);
});
