import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { inTransaction } from '@vision/shared/db/transaction';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { noteObject } from '../src/db/segment-objects.ts';
import { createSignals } from '../src/signals.ts';
import { compactFrames } from '../src/use-cases/segments/compact-frames.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { decideAboutSegments, ownSegmentPrefix, standingOfSegments } from '../src/use-cases/retain/owned-segments.ts';
import { runRetention } from '../src/use-cases/retain/run-retention.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { sweepSegmentObjects } from '../src/use-cases/retain/sweep-segment-objects.ts';
import { frame, logger, mark, newTaskId, testResults, testSettings } from './support.ts';

const signals = createSignals(logger);
const loops = createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);
const today = new Date().toISOString().slice(0, 10);

let s3: TestS3;
let store: SegmentStore;
let databases: TestDatabase[];
beforeEach(async () => {
  s3 = await testS3();
  store = createSegmentStore(s3);
  databases = await Promise.all([testResults(), testResults()]);
});
afterEach(async () => {
  store.close();
  await Promise.all(databases.map((database) => database.drop()));
  await s3.close();
});

/** Today has expired with these settings. */
const settings = { ...testSettings, hotMs: 0, retentionDays: -1 };
const depsOf = ({ db }: TestDatabase) => ({
  db,
  logger,
  loops,
  ownPrefix: ownSegmentPrefix({ db }),
  partitions: createPartitionKeeper(db, 90),
  settings,
  signals,
  store,
});
type TestDeps = ReturnType<typeof depsOf>;

/** Stores frames and moves them to the bucket. */
async function fill(deps: TestDeps): Promise<void> {
  const task = newTaskId();
  const events = [
    ...Array.from({ length: 10 }, (_, seq) => ({ kind: 'frame' as const, data: frame(task, seq) })),
    { kind: 'end' as const, data: mark(task) },
  ];
  await storeFrames({ ...deps, wakeRelay: () => undefined }, events, (work) => inTransaction(deps.db, work));
  expect(await compactFrames(deps, new AbortController().signal)).toBe(1);
}

const inBucket = async () => (await s3.objects()).filter((key) => key.startsWith('segments/'));

/** Adds an object that was sent long ago and is part of no segment. */
async function abandon({ db, ownPrefix }: TestDeps): Promise<string> {
  const objectKey = `${await ownPrefix()}${today}/abandoned`;
  await noteObject(db, { objectKey, day: today });
  await db('unindexed_objects')
    .where({ object_key: objectKey })
    .update({ noted_at: new Date(0) });
  await store.put(objectKey, Buffer.from('x'));
  return objectKey;
}

test('two databases with one bucket remove what they wrote themselves, and no object of the other', async () => {
  const [one, other] = databases.map(depsOf) as [TestDeps, TestDeps];
  await fill(one);
  expect(await standingOfSegments(one)).toBe('owner');
  await fill(other);
  expect(await standingOfSegments(other)).toBe('shared');
  const ofEarlierRelease = { ...other, ownPrefix: () => Promise.resolve('segments/') };
  await fill(ofEarlierRelease);
  expect(await inBucket()).toHaveLength(3);
  await runRetention(other);
  const own = await one.ownPrefix();
  expect(await inBucket()).toEqual([expect.stringMatching(`^${own}`)]);
  await runRetention(one);
  expect(await inBucket()).toEqual([]);
});

test('a restored database removes no object, until an operator goes on with it', async () => {
  const [deps] = databases.map(depsOf) as [TestDeps];
  await standingOfSegments(deps);
  await fill(deps);
  await abandon(deps);
  await deps.db('bucket_owner').update({ generation: 0 });
  await runRetention(deps);
  expect(await sweepSegmentObjects(deps)).toBe(0);
  expect(await inBucket()).toHaveLength(2);
  expect(await deps.db('segments').select('id')).toHaveLength(1);
  await decideAboutSegments(deps, 'resume');
  expect(await sweepSegmentObjects(deps)).toBe(1);
  await runRetention(deps);
  expect(await inBucket()).toEqual([]);
});

test('an object that became no part of a segment is removed when its grace period has expired', async () => {
  const [deps] = databases.map(depsOf) as [TestDeps];
  const key = await abandon(deps);
  await deps.db('unindexed_objects').update({ noted_at: new Date(Date.now() - 3 * 86_400_000) });
  const week = { ...deps, settings: { ...settings, sweepGraceMs: 7 * 86_400_000 } };
  expect(await sweepSegmentObjects(week)).toBe(0);
  expect(await inBucket()).toEqual([key]);
  await deps.db('unindexed_objects').update({ noted_at: new Date(Date.now() - 7 * 86_400_000 - 1_000) });
  expect(await sweepSegmentObjects(week)).toBe(1);
  expect(await inBucket()).toEqual([]);
});
