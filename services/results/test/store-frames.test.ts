import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import type { FrameData, JobEndedData } from '@vision/shared/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store-frames.ts';
import { frame, logger, mark, newTaskId, object, taskIdAt, testResults } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

const store = (...events: (FrameData | JobEndedData)[]) =>
  storeFrames(
    {
      partitions: createPartitionKeeper(database.db, 90),
      signals: createSignals(logger),
      wakeRelay: () => undefined,
    },
    events.map((data) => ('seq' in data ? { kind: 'frame', data } : { kind: 'end', data })),
    (work) => inTransaction(database.db, work),
  );
const stored = async (taskId: string) => {
  const rows = await database
    .db('frames')
    .where({ task_id: taskId })
    .orderBy('seq')
    .select<{ seq: number; attempt: number; frame_time_ms: number }[]>('seq', 'attempt', 'frame_time_ms');
  return rows.map(({ seq }) => seq);
};
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

test('a takeover goes on where it was and the old worker is heard no more', async () => {
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

test('an end mark is announced once, with every frame before it stored', async () => {
  const task = newTaskId();
  await store(frame(task, 0), frame(task, 1), mark(task, { status: 'failed', error: 'source lost' }));
  await store(mark(task, { status: 'failed', error: 'source lost' }), frame(task, 1));
  expect(await announced(task)).toEqual([
    { task_id: task, attempt: 1, status: 'failed', frames_stored: 2, error: 'source lost' },
  ]);
});

test('a mark is out of force when another attempt goes on after it', async () => {
  const task = newTaskId();
  await store(frame(task, 0), mark(task));
  await store(frame(task, 1, { attempt: 2 }));
  expect(await database.db('ingests').where({ task_id: task }).first('end_status')).toEqual({ end_status: null });
  await store(mark(task, { attempt: 2, status: 'stopped' }));
  expect(await announced(task)).toMatchObject([{ attempt: 1 }, { attempt: 2, status: 'stopped', frames_stored: 2 }]);
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
  // Once more by the way that looks first.
  await store(frame(task, 1), frame(task, 2, { objects: [object(0.9, label)] }));
  const late = frame(task, 1, { objects: [object(0.9, label)] });
  await store({ ...late, seq: 0 });
  const rows = await database
    .db('frames')
    .where({ task_id: task })
    .whereIn('seq', [0, 2])
    .select<{ objects: string }[]>('objects');
  expect(rows.map(({ objects }) => JSON.parse(objects) as object)).toEqual([object(0.9, label), object(0.9, label)]);
});
