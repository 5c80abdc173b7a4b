import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { dayOfTask } from '@vision/contracts/ids';
import { freePort } from '@vision/shared/testing/ports';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { startProcess } from '@vision/shared/testing/service-process';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import { createSignals } from '../src/signals.ts';
import { compactFrames } from '../src/use-cases/segments/compact-frames.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { noteObject } from '../src/db/segment-objects.ts';
import { segmentKey } from '../src/domain/segments/segment-key.ts';
import { sweepSegmentObjects } from '../src/use-cases/retain/sweep-segment-objects.ts';
import { runRetention } from '../src/use-cases/retain/run-retention.ts';
import {
  formsOf,
  frame,
  logger,
  mark,
  newTaskId,
  settingsOfStore,
  snapshot,
  startResults,
  storedFrames,
  testSettings,
} from './support.ts';
import type { TestResults } from './support.ts';

/** Writes segments and moves none of them. */
let results: TestResults;
beforeAll(async () => {
  results = await startResults({ SEGMENT_INTERVAL_MS: '600000' });
});
afterAll(() => results.stop());

const FRAMES = 700;
const deps = () => ({
  db: results.database.db,
  logger,
  ownPrefix: ownSegmentPrefix(results.database),
  loops: createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']),
  // All frames of today have expired, and are old enough to be moved.
  settings: { ...testSettings, hotMs: 0, retentionDays: -1 },
  signals: createSignals(logger),
  store: createSegmentStore(results.s3),
});

async function startDying(crashAt: string, settings: Record<string, string> = {}): Promise<void> {
  const process = startProcess('results', {
    ...settingsOfStore(results.s3),
    CRASH_AT: crashAt,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    HEALTH_PORT: String(await freePort()),
    DATABASE_URL: results.database.url,
    // It moves stored frames and must not store any.
    KAFKA_BROKERS: '127.0.0.1:1',
    SERVICE_KEY: testServiceKey('results'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
    TASKS_URL: results.tasks.url,
    IMAGES_URL: results.images.url,
    SEGMENT_YOUNG_MS: '0',
    SEGMENT_INTERVAL_MS: '50',
    ...settings,
  });
  await process.ended;
  await process.stop();
}

const read = async (taskId: string): Promise<string> => {
  const pages: string[] = [];
  for (let cursor = ''; ;) {
    const answer = await results.get(`/v1/vision/tasks/${taskId}/results?limit=500&min_score=0&cursor=${cursor}`);
    const page = (await answer.json()) as { items: unknown[]; next_cursor: string };
    pages.push(JSON.stringify(page.items));
    cursor = page.next_cursor;
    if (cursor === '') return pages.join('');
  }
};

test.each(['results.object_noted', 'results.object_stored', 'results.segments_indexed'])(
  'a process that dies at %s has lost and doubled nothing, and another one goes on where it was',
  async (crashAt) => {
    const { db } = results.database;
    const task = newTaskId();
    await results.tell(snapshot(task, 'subject-a'));
    await results.deliver([...Array.from({ length: FRAMES }, (_, seq) => frame(task, seq)), mark(task)]);
    const before = await read(task);
    await db('ingests')
      .where({ task_id: task })
      .update({ compact_at: new Date(0) });
    await startDying(crashAt);
    expect(await read(task)).toBe(before);
    const numbers = async () => (await storedFrames(db, task)).map(({ seq }) => seq);
    const all = Array.from({ length: FRAMES }, (_, seq) => seq);
    expect(await numbers()).toEqual(all);
    // The lease of the dead process expires.
    await db('ingests')
      .where({ task_id: task })
      .update({ compact_at: new Date(0) });
    while ((await compactFrames(deps(), new AbortController().signal)) > 0);
    expect(await formsOf(db, task)).toEqual({ rows: 0, hot: 0, cold: FRAMES });
    expect(await numbers()).toEqual(all);
    expect(await read(task)).toBe(before);
  },
);

test('a process that dies between the objects and the index of an expired day is followed by one that finishes', async () => {
  const { db } = results.database;
  // The service of this file had its turn when it started.
  await results.database.db('audit_marks').where({ kind: 'results_retention' }).delete();
  await startDying('results.expired_objects_removed', { CLOCK_OFFSET: '91 days', SEGMENT_INTERVAL_MS: '600000' });
  expect((await results.s3.objects()).filter((key) => key.startsWith('segments/'))).toEqual([]);
  expect(await db('segments').select('id')).not.toEqual([]);
  await runRetention({ ...deps(), partitions: createPartitionKeeper(db, 90) });
  expect(await db('segments').select('id')).toEqual([]);
});

test('an object that is being sent while its day is removed is found and removed later', async () => {
  const { db } = results.database;
  const task = newTaskId();
  const day = dayOfTask(task) ?? '';
  await results.deliver([frame(task, 0)]);
  const { ownPrefix, store } = deps();
  const objectKey = segmentKey(await ownPrefix(), { day, taskId: task, firstSeq: 0, name: 'late' });
  await noteObject(db, { objectKey, day });
  await runRetention({ ...deps(), partitions: createPartitionKeeper(db, 90) });
  await store.put(objectKey, Buffer.from('late'));
  await db('unindexed_objects').update({ noted_at: new Date(Date.now() - 3_700_000) });
  await sweepSegmentObjects(deps());
  expect(await results.s3.objects()).not.toContain(objectKey);
});
