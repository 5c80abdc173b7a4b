import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGate } from '@vision/shared/async/gate';
import type { Gate } from '@vision/shared/async/gate';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { findFold } from '../src/db/folds.ts';
import { findReadableTask } from '../src/db/task-views.ts';
import { cursorCodec, nothingRead } from '../src/domain/cursor.ts';
import { parseStreamQuery } from '../src/domain/result-query.ts';
import { createSignals } from '../src/signals.ts';
import { followResults } from '../src/use-cases/read/follow-results.ts';
import type { ResultEvent } from '../src/use-cases/read/follow-results.ts';
import { createTaskWatch } from '../src/use-cases/read/watch-tasks.ts';
import type { TaskWatch } from '../src/use-cases/read/watch-tasks.ts';
import { frame, logger, newTaskId, object, snapshot, startResults } from './support.ts';
import type { TestResults } from './support.ts';

let results: TestResults;
let store: SegmentStore;
let watch: TaskWatch;
beforeAll(async () => {
  results = await startResults();
  store = createSegmentStore(results.s3);
  watch = createTaskWatch({ db: results.database.db, logger, endPatienceMs: 60_000 });
  watch.start();
});
afterAll(async () => {
  await watch.stop();
  store.close();
  await results.stop();
});

const shown = (taskId: string, from: number, count: number) =>
  Array.from({ length: count }, (_, at) => frame(taskId, from + at, { objects: [object(0.9)] }));

const newTask = async (frames: number) => {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a'));
  await results.deliver(shown(taskId, 0, frames));
  return taskId;
};

interface Follower {
  query: Record<string, string>;
  searches: Pick<Gate, 'run'>;
  signal?: AbortSignal;
}

/** Events of a reader that follows all frames of a task. */
async function follow(
  taskId: string,
  { query, searches, signal = new AbortController().signal }: Follower,
): Promise<AsyncIterable<ResultEvent>> {
  const { db } = results.database;
  const task = await findReadableTask(db, { taskId, subject: 'subject-a', endPatienceMs: 60_000 });
  if (!task) throw new Error('there is no task');
  const own = { cursors: cursorCodec(['k'.repeat(40)]), db, signals: createSignals(logger), store, watch };
  const deps = { ...own, searches } as unknown as Parameters<typeof followResults>[0];
  const selection = parseStreamQuery(query);
  return followResults(deps, { subject: 'subject-a', taskId, task, from: nothingRead, selection, signal });
}

/** Follows a task of 250 frames that gets one more when all are read; returns the slots that its pages waited for. */
async function turnsOf(query: Record<string, string>): Promise<unknown[]> {
  const taskId = await newTask(250);
  const turns: unknown[] = [];
  const searches: Pick<Gate, 'run'> = { run: (work, turn) => (turns.push(turn?.owner), work()) };
  let frames = 0;
  for await (const { kind } of await follow(taskId, { query, searches })) {
    if (kind === 'frame') frames += 1;
    if (frames === 250) await results.deliver(shown(taskId, 250, 1));
    if (frames === 251) break;
  }
  return turns;
}

/** Counts statements that read the progress of the fold. */
async function foldReadsOf(taskId: string, query: Record<string, string>): Promise<{ frames: number; reads: number }> {
  const { db } = results.database;
  let reads = 0;
  const note = ({ sql }: { sql: string }) => (reads += sql.includes('from ingests as i left join folds') ? 1 : 0);
  db.on('query', note);
  let frames = 0;
  for await (const { kind } of await follow(taskId, { query, searches: createGate({ concurrency: 1 }) })) {
    if (kind === 'frame') frames += 1;
    if (frames === 250) break;
  }
  db.off('query', note);
  return { frames, reads };
}

/** A gate whose only slot another subject holds. */
function heldGate(): { gate: Gate; release: () => void } {
  const gate = createGate({ concurrency: 1 });
  const { promise, resolve: release } = Promise.withResolvers<void>();
  void gate.run(() => promise, { owner: 'subject-b' });
  return { gate, release };
}

test('pages of a stream that searches stored frames wait for their turn among subjects, and new frames do not', async () => {
  expect(await turnsOf({ skip_empty: 'true' })).toEqual(['subject-a', 'subject-a', 'subject-a']);
  expect(await turnsOf({ from_ms: '0' })).toEqual(['subject-a', 'subject-a', 'subject-a']);
  expect(await turnsOf({})).toEqual([]);
});

test('a stream that searches for a track reads the fold once for the pages of a task that stays as it is', async () => {
  const taskId = await newTask(250);
  const { db } = results.database;
  await db('ingests')
    .where({ task_id: taskId })
    .update({ fold_at: db.raw('now()') });
  await until(async () => (await findFold(db, taskId)).isFolded);
  expect(await foldReadsOf(taskId, { skip_empty: 'true', track_id: '7' })).toEqual({ frames: 250, reads: 1 });
});

test('a stream that waits for its turn ends quietly when its reader leaves', async () => {
  const taskId = await newTask(1);
  const { gate, release } = heldGate();
  const left = new AbortController();
  const events = await follow(taskId, { query: { skip_empty: 'true' }, searches: gate, signal: left.signal });
  const next = events[Symbol.asyncIterator]().next();
  expect(gate.load()).toBe(2);
  left.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  release();
  await gate.idle();
});

test('a stream that waits long for its turn is kept alive, and goes on when it has it', async () => {
  const taskId = await newTask(1);
  const { gate, release } = heldGate();
  const events = await follow(taskId, { query: { skip_empty: 'true' }, searches: gate });
  const kinds: string[] = [];
  for await (const { kind } of events) {
    kinds.push(kind);
    if (kind === 'heartbeat') release();
    if (kind === 'frame') break;
  }
  expect(kinds).toEqual(['heartbeat', 'frame']);
});
