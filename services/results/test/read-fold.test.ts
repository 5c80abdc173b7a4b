import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { findFold } from '../src/db/folds.ts';
import { coverageOfFold } from '../src/db/timeline-hours.ts';
import { createSignals } from '../src/signals.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { readFold } from '../src/use-cases/read/read-fold.ts';
import type { FoldView } from '../src/use-cases/read/read-fold.ts';
import { foldDeps } from './fold-deps.ts';
import { frame, logger, newTaskId, object, snapshot, startResults, testResults } from './support.ts';
import type { TestResults } from './support.ts';

let database: TestDatabase;
let results: TestResults;
let store: SegmentStore;

beforeAll(async () => {
  database = await testResults();
  // A fold by the service would also change rows.
  results = await startResults({ END_CHECK_MS: '600000' }, database);
  store = createSegmentStore(results.s3);
});
afterAll(async () => {
  store.close();
  await results.stop();
  await database.drop();
});

/** A task that gets a minute of frames on request, each minute with a track of its own. */
async function growingTask() {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a', {}));
  const signals = createSignals(logger);
  const deps = { db: database.db, signals, store, wakeFold: () => undefined };
  const folding = foldDeps(database.db, store);
  let minutes = 0;
  const grow = async () => {
    const own = { ...object(0.9), track_id: `a1-${minutes}` };
    await results.deliver(
      Array.from({ length: 10 }, (_, at) =>
        frame(taskId, 10 * minutes + at, { frame_time_ms: 60_000 * minutes + 200 * at, objects: [own] }),
      ),
    );
    minutes += 1;
    await foldTask(folding, taskId);
  };
  await grow();
  return { taskId, deps, grow, minutes: () => minutes };
}

/** Ids that a reader finds: tracks of rows, and those that the view has in addition. */
const idsOf = async (db: typeof database.db, taskId: string) =>
  await db('tracks').where({ task_id: taskId }).orderBy('track_id').pluck<string[]>('track_id');

test('discards data that was read while a fold changed rows', async () => {
  const { taskId, deps, grow } = await growingTask();
  let reads = 0;
  const found = await readFold(deps, taskId, async (view, db) => {
    reads += 1;
    if (reads === 1) await grow();
    return { rows: await idsOf(db, taskId), view: [...view.tracks.keys()], isInTransaction: db.isTransaction };
  });
  expect(reads).toBe(2);
  expect(found).toMatchObject({ rows: ['a1-0'], view: ['a1-1'] });
  expect(found.isInTransaction).toBeFalsy();
});

test('discards data when its last rows have another revision', async () => {
  const { taskId, deps, grow } = await growingTask();
  let reads = 0;
  const found = await readFold(deps, taskId, async (view, db) => {
    reads += 1;
    const rows = await idsOf(db, taskId);
    if (reads === 1) await grow();
    const { revision } = await coverageOfFold(db, { day: view.day, taskId }, []);
    view.noteRevision(revision);
    return { rows, view: [...view.tracks.keys()] };
  });
  expect(reads).toBe(2);
  expect(found).toEqual({ rows: ['a1-0'], view: ['a1-1'] });
});

test('how far a task was folded before the read counts for its first try alone', async () => {
  const { taskId, deps, grow } = await growingTask();
  const before = await findFold(database.db, taskId);
  await grow();
  let reads = 0;
  const read = async (view: FoldView, db: typeof database.db) => {
    reads += 1;
    return { rows: await idsOf(db, taskId), view: [...view.tracks.keys()] };
  };
  expect(await readFold(deps, taskId, read, { found: before })).toEqual({ rows: ['a1-0'], view: ['a1-1'] });
  expect(reads).toBe(2);
});

test('a reader that is slower than every fold reads rows of one moment', async () => {
  const { taskId, deps, grow, minutes } = await growingTask();
  let reads = 0;
  const found = await readFold(deps, taskId, async (view, db) => {
    reads += 1;
    const before = minutes();
    await grow();
    return { rows: await idsOf(db, taskId), view: [...view.tracks.keys()], before };
  });
  expect(reads).toBe(6);
  expect(found.view).toEqual([`a1-${found.before - 1}`]);
  expect(found.rows).toEqual(Array.from({ length: found.before - 1 }, (_, at) => `a1-${at}`));
});
