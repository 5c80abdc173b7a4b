import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import { testMetrics } from '@vision/shared/testing/metrics';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { createSignals } from '../src/signals.ts';
import { compactFrames } from '../src/use-cases/segments/compact-frames.ts';
import { applyOverdueEnds } from '../src/use-cases/store/apply-overdue-ends.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { formsOf, frame, logger, mark, newTaskId, testResults, testSettings } from './support.ts';

const metrics = testMetrics();
const lines: Record<string, unknown>[] = [];
const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
const loops = createTaskLoops(createLogger('results', 'warn', { write }), [
  'compaction',
  'deletions',
  'fold',
  'overdue_ends',
  'stored_frames',
]);
const gauge = (loop: string) => metrics.sumOf('vision.loop.poisoned_tasks', { loop });
const signals = createSignals(logger);
const settings = { ...testSettings, hotMs: 0, framePatienceMs: 0 };

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

const keep = (events: (FrameData | JobEndedData)[]) =>
  storeFrames(
    { partitions: createPartitionKeeper(database.db, 90), settings, signals, wakeRelay: () => undefined },
    events.map((data) => ('seq' in data ? { kind: 'frame', data } : { kind: 'end', data })),
    (work) => inTransaction(database.db, work),
  );
const ingests = () => database.db('ingests');

test('a task whose frames cannot be moved holds back no other and is named', async () => {
  const [poisoned, healthy] = [newTaskId(), newTaskId()];
  for (const task of [poisoned, healthy]) await keep(Array.from({ length: 600 }, (_, seq) => frame(task, seq)));
  await database
    .db('segments')
    .where({ task_id: poisoned })
    .update({ heads: Buffer.from('no heads') });
  const deps = { db: database.db, ownPrefix: ownSegmentPrefix(database), loops, settings, signals, store };
  await expect(compactFrames(deps, new AbortController().signal)).resolves.toBe(2);
  expect(await formsOf(database.db, healthy)).toMatchObject({ hot: 0, cold: 600 });
  expect(lines.splice(0)).toMatchObject([{ level: 'error', task_id: poisoned, loop: 'compaction', failures: 1 }]);
  expect(loops.poisoned()).toEqual([{ loop: 'compaction', tasks: 1, task_ids: [poisoned] }]);
  expect(await gauge('compaction')).toBe(1);
});

test('end-of-stream markers that cannot be decided hold back no other, and each is named', async () => {
  const poisoned = [randomUUID(), randomUUID()];
  const healthy = newTaskId();
  for (const id of [...poisoned, healthy]) {
    const task = newTaskId();
    const missing = { attempt_frames: { count: 2, first_seq: 0, last_seq: 1 } };
    await keep([frame(task, 0), mark(task, missing)]);
    // This system generates no id without a time.
    await ingests().where({ task_id: task }).update({ task_id: id });
  }
  const apply = () => applyOverdueEnds({ db: database.db, loops, settings, signals, wakeRelay: () => undefined });
  await expect(apply()).resolves.toBe(1);
  expect(await ingests().where({ task_id: healthy }).first('end_status')).toEqual({ end_status: 'succeeded' });
  expect(lines.splice(0).map((line) => line['task_id'])).toEqual(expect.arrayContaining(poisoned));
  expect(await gauge('overdue_ends')).toBe(2);
  // The next round retries them and does not log a second line so soon.
  await expect(apply()).resolves.toBe(0);
  expect(lines).toEqual([]);
});
