import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import { freePort } from '@vision/shared/testing/ports';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { startProcess } from '@vision/shared/testing/service-process';
import { revisionOfFold } from '../src/db/folds.ts';
import { saveTaskView } from '../src/db/task-views.ts';
import { parseTimelineQuery } from '../src/domain/timeline-query.ts';
import { parseTrackQuery } from '../src/domain/track-query.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { getTimeline } from '../src/use-cases/read/get-timeline.ts';
import { listTracks } from '../src/use-cases/read/list-tracks.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { CLOSED_STORE, CURSOR_KEY, closedStore, readDeps } from './fold-deps.ts';
import { frame, newTaskId, object, snapshot, testResults } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(async () => {
  store.close();
  await database.drop();
});

const MINUTE_MS = 60_000;
const store = closedStore();
const deps = () => readDeps(database.db, store);

interface Seen {
  seq: number;
  timeMs: number;
  trackId: string;
}

/** An object in five of ten seconds, five frames a second, then the next object. */
const passing = (fromSeq: number, toSeq: number, startMs = 0): Seen[] =>
  Array.from({ length: toSeq - fromSeq }, (_, at) => ({ seq: fromSeq + at, timeMs: startMs + (fromSeq + at) * 200 }))
    .filter(({ seq }) => seq % 50 < 25)
    .map((one) => ({ ...one, trackId: `a1-${Math.floor(one.seq / 50)}` }));

const isLate = ({ seq }: Seen) => seq === 3 || seq === 52;
const LATER_MS = 15 * MINUTE_MS;

/**
 * Frames that are folded together: first ended tracks and complete minutes, which become rows; then more of a track
 * that continues, which becomes none; then its end, and frames of the stored tracks.
 */
const portions = [
  [...passing(0, 130), ...passing(150, 160, LATER_MS)].filter((one) => !isLate(one)),
  passing(160, 170, LATER_MS),
  [...passing(170, 230, LATER_MS), ...passing(0, 130).filter(isLate), ...passing(250, 260, 3 * LATER_MS)],
];

async function newTask(): Promise<string> {
  const taskId = newTaskId();
  await saveTaskView(database.db, snapshot(taskId, 'subject-a'));
  return taskId;
}

async function keep(taskId: string, seen: readonly Seen[]): Promise<void> {
  const frames = seen.map(({ seq, timeMs, trackId }) =>
    frame(taskId, seq, { frame_time_ms: timeMs, objects: [{ ...object(0.9), track_id: trackId }] }),
  );
  const messages = frames.map((data) => ({ kind: 'frame' as const, data }));
  await storeFrames(deps(), messages, (work) => inTransaction(database.db, work));
}

async function keepAndFold(taskId: string, parts: readonly (readonly Seen[])[]): Promise<void> {
  for (const seen of parts) {
    await keep(taskId, seen);
    await foldTask(deps(), taskId);
  }
}

/** Starts a process that folds the task and dies at this point. It has no Kafka, so it does nothing else. */
async function foldUntil(crashAt: string, taskId: string): Promise<void> {
  const { db, url } = database;
  await db('ingests').update({ fold_at: null });
  await db('ingests').where({ task_id: taskId }).update({ fold_at: db.fn.now() });
  const dying = startProcess('results', {
    CRASH_AT: crashAt,
    ...CLOSED_STORE,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    HEALTH_PORT: String(await freePort()),
    DATABASE_URL: url,
    KAFKA_BROKERS: '127.0.0.1:1',
    SERVICE_KEY: testServiceKey('results'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: CURSOR_KEY,
    TASKS_URL: 'http://127.0.0.1:1',
    IMAGES_URL: 'http://127.0.0.1:1',
  });
  try {
    expect(await dying.ended).toBe('SIGKILL');
  } finally {
    await dying.stop();
  }
}

/** Tracks and timeline of a task, as its owner reads them. */
async function watched(taskId: string) {
  const asked = { subject: 'subject-a', taskId };
  const { signal } = new AbortController();
  const { items, asOfMs } = await listTracks(deps(), { ...asked, query: parseTrackQuery({}) });
  const timeline = await getTimeline(deps(), { ...asked, query: parseTimelineQuery({}), signal });
  return { tracks: items, asOfMs, timeline };
}

test.each([
  { crashAt: 'results.fold_made', folds: 0, stored: 0 },
  { crashAt: 'results.fold_stored', folds: 0, stored: 1 },
  { crashAt: 'results.fold_made', folds: 1, stored: 1 },
  { crashAt: 'results.fold_stored', folds: 1, stored: 2 },
  { crashAt: 'results.fold_made', folds: 2, stored: 2 },
  { crashAt: 'results.fold_stored', folds: 2, stored: 3 },
])('a process that dies at $crashAt behind $folds folds counts no frame twice', async ({ crashAt, folds, stored }) => {
  const [task, undisturbed] = [await newTask(), await newTask()];
  await keepAndFold(task, portions.slice(0, folds));
  await keep(task, portions[folds] ?? []);
  await foldUntil(crashAt, task);
  expect(await revisionOfFold(database.db, task)).toBe(stored);
  // The next process folds the remaining frames.
  await foldTask(deps(), task);
  await keepAndFold(task, portions.slice(folds + 1));
  await keepAndFold(undisturbed, portions);
  const expected = await watched(undisturbed);
  expect(expected.tracks.map(({ trackId, frames }) => [trackId, frames])).toEqual([
    ['a1-0', 25],
    ['a1-1', 25],
    ['a1-2', 25],
    ['a1-3', 25],
    ['a1-4', 25],
    ['a1-5', 10],
  ]);
  expect(await watched(task)).toEqual(expected);
});
