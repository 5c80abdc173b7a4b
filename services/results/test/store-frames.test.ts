import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testMetrics } from '@vision/shared/testing/metrics';
import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { applyOverdueEnds } from '../src/use-cases/store/apply-overdue-ends.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { turnIntoRows } from './rows.ts';
import {
  formsOf,
  frame,
  logger,
  mark,
  newTaskId,
  object,
  storedFrames,
  taskIdAt,
  testResults,
  testSettings,
} from './support.ts';

const metrics = testMetrics();
let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

const depsOf = (settings: typeof testSettings) => ({
  partitions: createPartitionKeeper(database.db, 90),
  settings,
  signals: createSignals(logger),
  wakeRelay: () => undefined,
});

describe('storing', () => {
  const store = (...events: (FrameData | JobEndedData)[]) =>
    storeFrames(
      depsOf(impatient),
      events.map((data) => ('seq' in data ? { kind: 'frame', data } : { kind: 'end', data })),
      (work) => inTransaction(database.db, work),
    );
  /** Frame counts of an end-of-stream marker for its attempt. */
  const published = (count: number, first_seq: number, last_seq: number) => ({
    attempt_frames: { count, first_seq, last_seq },
  });
  const impatient = { ...testSettings, framePatienceMs: 0 };
  const apply = () =>
    applyOverdueEnds({
      db: database.db,
      loops: createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']),
      settings: impatient,
      signals: createSignals(logger),
      wakeRelay: () => undefined,
    });
  const alarms = (name: string) => metrics.sumOf(`vision.results.${name}`);

  const stored = async (taskId: string) => (await storedFrames(database.db, taskId)).map(({ seq }) => seq);
  const announced = async (taskId: string) => {
    const rows = await database
      .db('outbox')
      .where({ key: taskId })
      .orderBy('id')
      .select<{ payload: object }[]>('payload');
    return rows.map(({ payload }) => payload);
  };

  test('frames that come twice, shuffled and in other groupings are stored once each', async () => {
    const task = newTaskId();
    const frames = Array.from({ length: 40 }, (_, seq) => frame(task, seq));
    const shuffled = frames.toSorted((a, b) => ((a.seq * 17) % 40) - ((b.seq * 17) % 40));
    await store(...shuffled.slice(0, 15));
    await store(...shuffled.slice(10, 30));
    await store(...shuffled.slice(25), ...shuffled.slice(0, 5));
    await store(...frames);
    expect(await stored(task)).toEqual(frames.map(({ seq }) => seq));
    expect(await database.db('ingests').where({ task_id: task }).first('stored', 'max_seq')).toEqual({
      stored: 40,
      max_seq: 39,
    });
  });

  test('writers of one task at the same time store every frame once', async () => {
    const task = newTaskId();
    const frames = Array.from({ length: 60 }, (_, seq) => frame(task, seq));
    await Promise.all([0, 10, 20, 30].map((from) => store(...frames.slice(from, from + 30))));
    expect(await stored(task)).toEqual(frames.map(({ seq }) => seq));
    expect(await database.db('ingests').where({ task_id: task }).first('stored')).toEqual({ stored: 60 });
  });

  test('a takeover continues at the same position and frames of the old worker are ignored', async () => {
    const task = newTaskId();
    await store(frame(task, 0), frame(task, 1), frame(task, 2));
    await store(
      frame(task, 2, { attempt: 2 }),
      frame(task, 3, { attempt: 2 }),
      frame(task, 9),
      frame(task, 4, { attempt: 2 }),
    );
    await store(frame(task, 5), mark(task));
    expect(await stored(task)).toEqual([0, 1, 2, 3, 4]);
    expect(await announced(task)).toEqual([]);
    await store(mark(task, { attempt: 2 }));
    expect(await announced(task)).toMatchObject([{ attempt: 2, frames_stored: 5 }]);
  });

  test('an end-of-stream marker is announced once, with every frame before it stored', async () => {
    const task = newTaskId();
    await store(frame(task, 0), frame(task, 1), mark(task, { status: 'failed', error: 'source lost' }));
    await store(mark(task, { status: 'failed', error: 'source lost' }), frame(task, 1));
    expect(await announced(task)).toEqual([
      { task_id: task, attempt: 1, status: 'failed', frames_stored: 2, error: 'source lost' },
    ]);
  });

  test('an end-of-stream marker no longer applies when another attempt continues after it', async () => {
    const task = newTaskId();
    await store(frame(task, 0), mark(task));
    await store(frame(task, 1, { attempt: 2 }));
    expect(await database.db('ingests').where({ task_id: task }).first('end_status')).toEqual({ end_status: null });
    await store(mark(task, { attempt: 2, status: 'stopped' }));
    expect(await announced(task)).toMatchObject([{ attempt: 1 }, { attempt: 2, status: 'stopped', frames_stored: 2 }]);
  });

  test('another frame under a stored number is reported and changes nothing; repeats are no alarm', async () => {
    const task = newTaskId();
    const before = Number(await alarms('frame_conflicts'));
    await store(frame(task, 0), frame(task, 1));
    await store(frame(task, 1), frame(task, 1, { attempt: 2, objects: [object(0.7, 'other track')] }));
    expect(await alarms('frame_conflicts')).toBe(before);
    await store(frame(task, 1, { attempt: 2, frame_time_ms: 77 }));
    await store(frame(task, 5, { attempt: 2 }), frame(task, 5, { attempt: 2, frame_time_ms: 78 }));
    expect(await alarms('frame_conflicts')).toBe(before + 2);
    expect(await stored(task)).toEqual([0, 1, 5]);
  });

  test('stores frames that an attempt published before the next one began, also when they are read later', async () => {
    const task = newTaskId();
    await store(frame(task, 0), frame(task, 100, { attempt: 2 }));
    await store(frame(task, 1), frame(task, 2), frame(task, 100, { frame_time_ms: 1 }));
    await store(frame(task, 101, { attempt: 2 }), mark(task, { attempt: 2, ...published(2, 100, 101) }));
    expect(await stored(task)).toEqual([0, 1, 2, 100, 101]);
    expect(await announced(task)).toMatchObject([{ attempt: 2, frames_stored: 5 }]);
    await store(frame(task, 3));
    expect(await stored(task)).toEqual([0, 1, 2, 100, 101]);
  });

  test('an end-of-stream marker that overtakes frames waits for them', async () => {
    const task = newTaskId();
    const before = Number(await alarms('holes'));
    await store(frame(task, 0), mark(task, published(3, 0, 2)));
    expect(await announced(task)).toEqual([]);
    await store(frame(task, 2));
    await store(mark(task, published(3, 0, 2)));
    expect(await announced(task)).toEqual([]);
    await store(frame(task, 1));
    expect(await announced(task)).toMatchObject([{ attempt: 1, frames_stored: 3 }]);
    await apply();
    expect(await announced(task)).toHaveLength(1);
    expect(await alarms('holes')).toBe(before);
  });

  test('frames that never come raise an alarm when the wait for them has expired, and the task may end', async () => {
    const task = newTaskId();
    const before = Number(await alarms('holes'));
    await store(frame(task, 0), frame(task, 2), mark(task, published(3, 0, 2)));
    await apply();
    expect(await alarms('holes')).toBe(before + 1);
    expect(await announced(task)).toMatchObject([{ attempt: 1, frames_stored: 2 }]);
    await apply();
    expect(await alarms('holes')).toBe(before + 1);
  });

  test('end-of-stream markers that cannot be decided block no later ones', async () => {
    const task = newTaskId();
    const pending = { pending_end: mark(task, published(1, 0, 0)), pending_until: new Date(0) };
    // None of these ids holds the day that would be needed to count its frames.
    const stuck = Array.from({ length: 45 }, () => ({ task_id: randomUUID(), ...pending }));
    await database.db('ingests').insert(stuck);
    try {
      await store(frame(task, 0), mark(task, published(2, 0, 1)));
      await apply();
      expect(await announced(task)).toMatchObject([{ attempt: 1, frames_stored: 1 }]);
    } finally {
      const ids = stuck.map(({ task_id }) => task_id);
      await database.db('ingests').whereIn('task_id', ids).delete();
    }
  });

  test('a count that an earlier release did not maintain is no missing frame', async () => {
    const task = newTaskId();
    const before = Number(await alarms('holes'));
    await store(frame(task, 0), frame(task, 1));
    const uncounted = { attempt_stored: 0, attempt_first: null, attempt_last: null };
    await database.db('ingests').where({ task_id: task }).update(uncounted);
    await store(mark(task, published(2, 0, 1)));
    await apply();
    expect(await announced(task)).toMatchObject([{ attempt: 1, frames_stored: 2 }]);
    expect(await alarms('holes')).toBe(before);
  });

  test('frames of a dead worker that its successor repeats count for the end-of-stream marker of the successor', async () => {
    const task = newTaskId();
    await store(frame(task, 0), frame(task, 1), frame(task, 2));
    const again = [1, 2, 3].map((seq) => frame(task, seq, { attempt: 2 }));
    await store(...again);
    await store(...again, mark(task, { attempt: 2, ...published(3, 1, 3) }));
    expect(await stored(task)).toEqual([0, 1, 2, 3]);
    expect(await announced(task)).toMatchObject([{ attempt: 2, frames_stored: 4 }]);
  });

  test('many tasks of several days share a batch', async () => {
    const yesterday = Date.now() - 86_400_000;
    const tasks = [newTaskId(), newTaskId(), taskIdAt(yesterday), taskIdAt(yesterday)];
    await store(...tasks.flatMap((task) => [frame(task, 0), frame(task, 1), mark(task)]));
    for (const task of tasks) expect(await stored(task)).toEqual([0, 1]);
  });

  test('frames of a task whose results have expired are passed over, those of the last day kept', async () => {
    const gone = taskIdAt(Date.now() - 92 * 86_400_000);
    const kept = taskIdAt(Date.now() - 90 * 86_400_000);
    await store(frame(gone, 0), frame(kept, 0));
    expect(await stored(gone)).toEqual([]);
    expect(await stored(kept)).toEqual([0]);
  });

  test.each([
    ['is no UUIDv7', '9b2e4f3a-7c1d-4e5f-8a9b-0c1d2e3f4a5b'],
    ['lies in the future', taskIdAt(Date.now() + 10 * 86_400_000)],
  ])('a job id that %s is a fault of the event', async (_how, id) => {
    await expect(store(frame(id, 0))).rejects.toThrow();
    expect(await stored(id)).toEqual([]);
  });

  test('labels with every awkward character come back unchanged', async () => {
    const task = newTaskId();
    const label = 'tab\there\\ line\nbreak\r "quote" \u0000 \\N ünï';
    await store(frame(task, 0, { objects: [object(0.9, label)] }));
    // Once more by the path that compares with stored frames first.
    await store(frame(task, 1), frame(task, 2, { objects: [object(0.9, label)] }));
    const late = frame(task, 1, { objects: [object(0.9, label)] });
    await store({ ...late, seq: 0 });
    const objects = (await storedFrames(database.db, task)).filter(({ seq }) => seq !== 1).map((one) => one.objects);
    expect(objects).toEqual([0, 2].map(() => JSON.stringify(object(0.9, label))));
  });

  test('from capture to readable is measured once for each frame of a live stream, and not for files', async () => {
    const task = newTaskId();
    const measured = async () => (await metrics.sumOf('vision.results.readable_age')) ?? 0;
    const before = await measured();
    const live = (seq: number) => frame(task, seq, { is_live: true, frame_time_ms: Date.now() - 400 });
    const frames = [live(0), live(2), live(4)];
    await store(...frames);
    await store(...frames, live(1));
    expect((await measured()) - before).toBe(4);
    await store(frame(newTaskId(), 0, { is_live: false }), frame(newTaskId(), 0));
    expect((await measured()) - before).toBe(4);
  });

  test('frames that are read again after the database lost them count no age', async () => {
    const measured = async () => (await metrics.sumOf('vision.results.readable_age')) ?? 0;
    const before = await measured();
    const task = newTaskId();
    const live = (seq: number) => frame(task, seq, { is_live: true, frame_time_ms: Date.now() - 60_000 });
    await storeFrames(
      depsOf(impatient),
      [live(0), live(1)].map((data) => ({ kind: 'frame', data })),
      (work) => inTransaction(database.db, work),
      { isReread: true },
    );
    expect((await storedFrames(database.db, task)).map(({ seq }) => seq)).toEqual([0, 1]);
    expect((await measured()) - before).toBe(0);
  });
});

const storeAll = (...events: (FrameData | JobEndedData)[]) =>
  storeFrames(
    depsOf(testSettings),
    events.map((data) => ('seq' in data ? { kind: 'frame', data } : { kind: 'end', data })),
    (work) => inTransaction(database.db, work),
  );

test('beside rows of an earlier release every frame is stored once and counted rightly', async () => {
  const task = newTaskId();
  const frames = Array.from({ length: 90 }, (_, seq) => frame(task, seq));
  await storeAll(...frames.slice(0, 30), ...frames.slice(60, 75));
  await turnIntoRows(database.db, task);
  await Promise.all([0, 15, 30, 45, 60].map((from) => storeAll(...frames.slice(from, from + 30))));
  await storeAll(...frames);
  expect((await storedFrames(database.db, task)).map(({ seq }) => seq)).toEqual(frames.map(({ seq }) => seq));
  const again = [10, 40, 80].map((seq) => frame(task, seq, { attempt: 2 }));
  await storeAll(...again);
  await storeAll(...again, mark(task, { attempt: 2, attempt_frames: { count: 3, first_seq: 10, last_seq: 80 } }));
  const adopted = (await storedFrames(database.db, task)).filter(({ attempt }) => attempt === 2);
  expect(adopted.map(({ seq }) => seq)).toEqual([10, 40, 80]);
  expect(await formsOf(database.db, task)).toEqual({ rows: 45, hot: 45, cold: 0 });
  const ingests = database.db('ingests').where({ task_id: task });
  expect(await ingests.first('stored', 'attempt_stored', 'end_status')).toEqual({
    stored: 90,
    attempt_stored: 3,
    end_status: 'succeeded',
  });
});
