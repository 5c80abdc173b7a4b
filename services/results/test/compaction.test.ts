import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';
import { dayOfTask } from '@vision/contracts/ids';
import { inTransaction } from '@vision/shared/db/transaction';
import { testMetrics } from '@vision/shared/testing/metrics';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { saveTaskView } from '../src/db/task-views.ts';
import { cursorCodec } from '../src/domain/cursor.ts';
import { parseResultQuery } from '../src/domain/result-query.ts';
import { createSignals } from '../src/signals.ts';
import { auditSegments } from '../src/use-cases/operate/audit-segments.ts';
import { compactFrames, createRowFinder } from '../src/use-cases/segments/compact-frames.ts';
import { compactTask } from '../src/use-cases/segments/compact-task.ts';
import { getResults } from '../src/use-cases/read/get-results.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { runRetention } from '../src/use-cases/retain/run-retention.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { sweepSegmentObjects } from '../src/use-cases/retain/sweep-segment-objects.ts';
import {
  formsOf,
  frame,
  framesOf,
  logger,
  mark,
  newTaskId,
  object,
  snapshot,
  storedFrames,
  testResults,
  testSettings,
  upTo,
} from './support.ts';
import type { Page } from './support.ts';
import { turnIntoRows } from './rows.ts';

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
// Hot frames of a test do not affect the next one.
afterEach(() => database.db('ingests').update({ compact_at: null }));

const settings = { ...testSettings, hotMs: 0 };
const signals = createSignals(logger);
const loops = createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);
const deps = (changes: Partial<Parameters<typeof compactFrames>[0]> = {}) => ({
  db: database.db,
  logger,
  ownPrefix: ownSegmentPrefix(database),
  loops,
  settings,
  signals,
  store,
  ...changes,
});
const keep = (events: (FrameData | JobEndedData)[]) =>
  storeFrames(
    { partitions: createPartitionKeeper(database.db, 90), settings, signals, wakeRelay: () => undefined },
    events.map((data) => ('seq' in data ? { kind: 'frame', data } : { kind: 'end', data })),
    (work) => inTransaction(database.db, work),
  );
/** Stores frames as an earlier release does. */
const keepRows = (task: string, events: (FrameData | JobEndedData)[]) =>
  keep(events).then(() => turnIntoRows(database.db, task));
const compact = (changes: Partial<Parameters<typeof compactFrames>[0]> = {}) =>
  compactFrames(deps(changes), new AbortController().signal);
const far = { ...settings, retentionDays: -3 };
const retainNothing = (from = store) =>
  runRetention({ ...deps({ settings: far, store: from }), partitions: createPartitionKeeper(database.db, 90) });
const seqsOf = async (task: string) => (await storedFrames(database.db, task)).map(({ seq }) => seq);
const makeDue = (task: string) =>
  database
    .db('ingests')
    .update({ compact_at: new Date(0) })
    .where('task_id', task);

async function read(task: string, query: { minScore?: number; cursor?: string } = {}, from = store): Promise<Page> {
  await saveTaskView(database.db, snapshot(task, 'subject-a'));
  const text = await getResults(
    {
      ...deps({ store: from }),
      cursors: cursorCodec(['cursor-key-cursor-key-cursor-key-cursor']),
      taskOwners: { find: () => Promise.resolve(undefined), findKnown: () => Promise.resolve([]) },
      wakeFold: () => undefined,
    },
    { subject: 'subject-a', taskId: task, query: { ...parseResultQuery({ limit: '500' }), ...query } },
  );
  return JSON.parse(text.toString()) as Page;
}

test('many small writes become few segments, and pages stay the same to the last byte', async () => {
  const task = newTaskId();
  for (let from = 0; from < 600; from += 60) await keep(framesOf(task, from, 60));
  const hot = await read(task, { minScore: 0 });
  expect(await formsOf(database.db, task)).toEqual({ rows: 0, hot: 600, cold: 0 });
  await compact();
  expect(await formsOf(database.db, task)).toEqual({ rows: 0, hot: 0, cold: 600 });
  expect(await database.db('segments').where({ task_id: task })).toHaveLength(2);
  expect(await read(task, { minScore: 0 })).toEqual(hot);
});

test('frames below the minimum age stay, and few ones wait for others until their task has ended', async () => {
  const task = newTaskId();
  const patient = { settings: { ...settings, hotMs: 3_600_000 } };
  await keep([...framesOf(task, 0, 600), mark(task)]);
  await makeDue(task);
  await compact(patient);
  expect(await formsOf(database.db, task)).toMatchObject({ hot: 600, cold: 0 });

  const running = newTaskId();
  await keep(framesOf(running, 0, 100));
  const aged = { settings: { ...settings, hotMs: 1_000 } };
  await database
    .db('segments')
    .where({ task_id: running })
    .update({ created_at: new Date(Date.now() - 3_000) });
  await makeDue(running);
  await compact(aged);
  expect(await formsOf(database.db, running)).toMatchObject({ hot: 100, cold: 0 });
  await keep([mark(running)]);
  await makeDue(running);
  await compact(aged);
  expect(await formsOf(database.db, running)).toMatchObject({ hot: 0, cold: 100 });
});

test('repeats of frames in the object store are stored once, newer attempts take them over, others are reported', async () => {
  const task = newTaskId();
  const before = Number(await metrics.sumOf('vision.results.frame_conflicts'));
  await keep(framesOf(task, 0, 50));
  await compact();
  await keep(framesOf(task, 0, 60));
  await keep([frame(task, 48, { attempt: 2 }), frame(task, 49, { attempt: 2 }), frame(task, 60, { attempt: 2 })]);
  await keep([frame(task, 20, { attempt: 2, frame_time_ms: 77 })]);
  expect(await seqsOf(task)).toEqual(upTo(61));
  expect((await storedFrames(database.db, task)).filter(({ attempt }) => attempt === 2).map(({ seq }) => seq)).toEqual([
    48, 49, 60,
  ]);
  expect(await metrics.sumOf('vision.results.frame_conflicts')).toBe(before + 1);
  await keep([mark(task, { attempt: 2, attempt_frames: { count: 3, first_seq: 48, last_seq: 60 } })]);
  expect(await database.db('ingests').where({ task_id: task }).first('end_status')).toEqual({
    end_status: 'succeeded',
  });
});

test('frames that a newer attempt takes over while they are being moved are not lost, and move with the next round', async () => {
  const task = newTaskId();
  await keep(framesOf(task, 0, 600));
  const meddled: SegmentStore = {
    ...store,
    put: async (key, body) => {
      await store.put(key, body);
      await keep([frame(task, 300, { attempt: 2 }), frame(task, 600, { attempt: 2 })]);
    },
  };
  await compact({ store: meddled });
  expect(await formsOf(database.db, task)).toMatchObject({ hot: 601, cold: 0 });
  await makeDue(task);
  await compact();
  expect(await formsOf(database.db, task)).toMatchObject({ hot: 0, cold: 601 });
  const stored = await storedFrames(database.db, task);
  expect(stored.map(({ seq }) => seq)).toEqual(upTo(601));
  expect(stored.filter(({ attempt }) => attempt === 2).map(({ seq }) => seq)).toEqual([300, 600]);
});

test('frames that a newer attempt takes over in the moment in which they are moved count for it', async () => {
  const { db } = database;
  const task = newTaskId();
  await keep(framesOf(task, 0, 600));
  // The hot frames are removed and the transaction is still open: it waits for this test.
  await db.raw(`create function hold() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(26); return new; end $$`);
  await db.raw(`create trigger hold before insert on segments for each row when (new.object_key is not null)
    execute function hold()`);
  const gate = await db.transaction();
  await gate.raw('select pg_advisory_xact_lock(26)');
  const waiting = async (count: number) => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length === count;
  };
  const moving = compact();
  await until(() => waiting(1));
  const storing = keep([frame(task, 300, { attempt: 2 })]);
  await until(() => waiting(2));
  await gate.commit();
  await Promise.all([moving, storing]);
  await db.raw('drop function hold() cascade');
  const stored = await storedFrames(db, task);
  expect(stored.filter(({ attempt }) => attempt === 2).map(({ seq }) => seq)).toEqual([300]);
  expect(await formsOf(db, task)).toMatchObject({ hot: 0, cold: 600 });
});

test('objects that became no part of a segment are removed, and none that did', async () => {
  const task = newTaskId();
  await keep(framesOf(task, 0, 600));
  const failing: SegmentStore = {
    ...store,
    put: async (key, body) => {
      await store.put(key, body);
      throw new Error('the process died here');
    },
  };
  await compact({ store: failing });
  await makeDue(task);
  await compact();
  const objects = async () => (await s3.objects()).filter((key) => key.includes(task));
  expect(await objects()).toHaveLength(2);
  await sweepSegmentObjects(deps());
  expect(await objects()).toHaveLength(2);
  await database.db('unindexed_objects').update({ noted_at: new Date(Date.now() - 3_700_000) });
  expect(await sweepSegmentObjects(deps())).toBeGreaterThan(0);
  expect(await objects()).toHaveLength(1);
  expect((await read(task, { minScore: 0 }, createSegmentStore(s3))).items[0]?.objects).toHaveLength(3);
});

test('an object that was on its way for too long is not used, because the sweep may have it', async () => {
  const task = newTaskId();
  await keep(framesOf(task, 0, 600));
  const slow: SegmentStore = {
    ...store,
    put: async (key, body) => {
      await store.put(key, body);
      await database
        .db('unindexed_objects')
        .where({ object_key: key })
        .update({ noted_at: new Date(Date.now() - 700_000) });
    },
  };
  await compact({ store: slow });
  expect(await formsOf(database.db, task)).toMatchObject({ hot: 600, cold: 0 });
});

test('rows of earlier releases are moved, also those that no release of ours wrote like that', async () => {
  const [task, odd] = [newTaskId(), newTaskId()];
  await keepRows(task, [...framesOf(task, 0, 700), mark(task)]);
  await keepRows(odd, [frame(odd, 0), mark(odd)]);
  const objects = '{"label":"x","score":9e-1,"later":{"a":1},"bbox":null}\n{"score":0.5}';
  await database.db('frames').where({ task_id: odd }).update({ objects });
  const before = await read(task, { minScore: 0 });
  const oddBefore = await read(odd, { minScore: 0.6 });
  await createRowFinder(deps())(new AbortController().signal);
  while ((await compact()) > 0);
  for (const one of [task, odd]) expect(await formsOf(database.db, one)).toMatchObject({ rows: 0, hot: 0 });
  expect(await read(task, { minScore: 0 })).toEqual(before);
  expect(await read(odd, { minScore: 0.6 })).toEqual(oddBefore);
});

test('rows of a running task are moved although its newest segments wait for others', async () => {
  const task = newTaskId();
  await keepRows(task, framesOf(task, 0, 600));
  await keep(framesOf(task, 600, 100));
  await database
    .db('segments')
    .where({ task_id: task })
    .update({ created_at: new Date(Date.now() - 3_000) });
  await makeDue(task);
  await compact({ settings: { ...settings, hotMs: 1_000 } });
  expect(await formsOf(database.db, task)).toEqual({ rows: 88, hot: 100, cold: 512 });
  expect(await seqsOf(task)).toEqual(upTo(700));
});

test('while a replica moves the frames of a task, no other one does', async () => {
  const task = newTaskId();
  await keep(framesOf(task, 0, 600));
  const others: number[] = [];
  const slow: SegmentStore = {
    ...store,
    put: async (key, body) => {
      others.push(await compact());
      await store.put(key, body);
    },
  };
  await compact({ store: slow });
  expect(others).toEqual([0]);
  expect((await s3.objects()).filter((key) => key.includes(task))).toHaveLength(1);
});

test('what is moved at once is bounded by what it takes in memory, however small it is when compressed', async () => {
  const [segments, rows] = [newTaskId(), newTaskId()];
  // No fixed number of decimals, so they are stored as text: 500 kB a frame, which compresses to almost nothing.
  const objects = Array.from({ length: 3_000 }, () => object(1 / 3));
  const large = (task: string) => upTo(20).map((seq) => frame(task, seq, { objects }));
  for (const one of large(segments)) await keep([one]);
  await keepRows(rows, large(rows));
  for (const taskId of [segments, rows]) {
    const day = dayOfTask(taskId) ?? '';
    const moved = await compactTask(deps(), { day, taskId, hasEnded: false });
    expect(moved).toBeGreaterThan(10);
    expect(moved).toBeLessThan(20);
    expect(await compactTask(deps(), { day, taskId, hasEnded: true })).toBe(20 - moved);
    expect(await seqsOf(taskId)).toEqual(upTo(20));
  }
});

test('a page is shown however many objects it takes', async () => {
  const task = newTaskId();
  // So far apart that each has a segment of its own.
  await keep([...upTo(200).map((index) => frame(task, index * 3_000)), mark(task)]);
  await makeDue(task);
  while ((await compact()) > 0);
  expect(await database.db('segments').where({ task_id: task }).whereNotNull('object_key')).toHaveLength(200);
  const { items } = await read(task, { minScore: 0 });
  expect(items.map(({ objects }) => objects.length)).toEqual(upTo(200).map(() => 3));
});

test('a store that is unavailable hides cold pages, with a time to come back; hot pages and ingest go on', async () => {
  const task = newTaskId();
  await keep(framesOf(task, 0, 500));
  await compact();
  const { resume_cursor: cursor } = await read(task);
  await keep(framesOf(task, 500, 20));
  const away = createSegmentStore({ ...s3, endpoint: 'http://127.0.0.1:1' });
  await expect(read(task, {}, away)).rejects.toMatchObject({
    code: 'OP-SYS-UNAVAILABLE',
    reason: 'object_store_unavailable',
    retryAfterS: 5,
  });
  expect((await read(task, { cursor }, away)).items).toHaveLength(20);
  // No object of this segment reaches the score, so the segment is not needed.
  expect(
    (await read(task, { minScore: 0.95 }, away)).items.map(({ objects, objects_total: total }) => [objects, total]),
  ).toEqual(upTo(500).map(() => [[], 3]));
  await makeDue(task);
  await expect(compact({ store: away })).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await seqsOf(task)).toEqual(upTo(520));
});

test('an object that is gone or damaged is read from its copy, and without one it is an alarm and no empty page', async () => {
  const task = newTaskId();
  await keep(framesOf(task, 0, 600));
  await compact();
  const alarms = () => metrics.sumOf('vision.results.segments_unreadable');
  const before = Number(await alarms());
  const [key = ''] = (await s3.objects()).filter((name) => name.includes(task));
  const { size } = await s3.client.statObject(s3.bucket, key);
  const whole = await read(task, {}, createSegmentStore(s3));
  await s3.client.putObject(s3.bucket, key, Buffer.alloc(size, 1));
  expect(await read(task, {}, createSegmentStore(s3))).toEqual(whole);
  await s3.client.removeObject(s3.bucket, key);
  expect(await read(task, {}, createSegmentStore(s3))).toEqual(whole);
  expect(await alarms()).toBe(before);
  await database.db('segment_copies').where({ object_key: key }).delete();
  await s3.client.putObject(s3.bucket, key, Buffer.alloc(size, 1));
  await expect(read(task, {}, createSegmentStore(s3))).rejects.toMatchObject({ reason: 'segment_unreadable' });
  await s3.client.removeObject(s3.bucket, key);
  await expect(read(task, {}, createSegmentStore(s3))).rejects.toMatchObject({ reason: 'segment_unreadable' });
  expect(await alarms()).toBe(before + 2);
  const audit = auditSegments({ db: database.db, store, settings: { ...settings, auditAgeMs: 0 } });
  expect(await audit.confirm([key])).toMatchObject([{ id: key, details: { task_id: task } }]);
  await delay(5);
  while (await audit.find());
  const told = await database.db('audit_differences').where({ kind: 'segment_missing' }).pluck<string[]>('id');
  expect(told).toContain(key);
});

test('retention removes segments of a day with their objects, and nothing of others', async () => {
  const [task, later] = [newTaskId(), newTaskId()];
  await keep([...framesOf(task, 0, 600), ...framesOf(later, 0, 1)]);
  while ((await compact()) > 0);
  const kept = `segments/${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}/x`;
  await store.put(kept, Buffer.from('x'));
  await retainNothing();
  expect((await s3.objects()).filter((key) => key.startsWith('segments/'))).toEqual([kept]);
});

test('an object that is being indexed while its day is removed is not forgotten in the store', async () => {
  const [task, other] = [newTaskId(), newTaskId()];
  await keep(framesOf(other, 0, 600));
  while ((await compact()) > 0);
  await keep(framesOf(task, 0, 600));
  const meddled: SegmentStore = {
    ...store,
    list: async function* (prefix) {
      yield* store.list(prefix);
      await compactTask(deps(), { day: dayOfTask(task) ?? '', taskId: task, hasEnded: false }).catch(() => 0);
    },
  };
  await retainNothing(meddled);
  await database.db('unindexed_objects').update({ noted_at: new Date(Date.now() - 3_700_000) });
  await sweepSegmentObjects(deps());
  expect((await s3.objects()).filter((key) => key.includes(task) || key.includes(other))).toEqual([]);
});
