import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Gate } from '@vision/shared/async/gate';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { findReadableTask } from '../src/db/task-views.ts';
import { cursorCodec, nothingRead } from '../src/domain/cursor.ts';
import { parseStreamQuery } from '../src/domain/result-query.ts';
import { createSignals } from '../src/signals.ts';
import { followResults } from '../src/use-cases/follow-results.ts';
import type { ResultEvent } from '../src/use-cases/follow-results.ts';
import { createTaskWatch } from '../src/use-cases/watch-tasks.ts';
import type { TaskWatch } from '../src/use-cases/watch-tasks.ts';
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

/** Follows a task of 250 frames that gets one more when all are read; returns the turns that its pages waited for. */
async function turnsOf(query: Record<string, string>): Promise<unknown[]> {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a'));
  await results.deliver(shown(taskId, 0, 250));
  const turns: unknown[] = [];
  const searches: Pick<Gate, 'run'> = { run: (work, turn) => (turns.push(turn?.owner), work()) };
  const { db } = results.database;
  const task = await findReadableTask(db, { taskId, subject: 'subject-a', endPatienceMs: 60_000 });
  if (!task) throw new Error('there is no task');
  const own = { cursors: cursorCodec(['k'.repeat(40)]), db, signals: createSignals(logger), store, watch };
  const left = new AbortController();
  const events: AsyncIterable<ResultEvent> = followResults(
    { ...own, searches } as unknown as Parameters<typeof followResults>[0],
    {
      subject: 'subject-a',
      taskId,
      task,
      from: nothingRead,
      selection: parseStreamQuery(query),
      signal: left.signal,
    },
  );
  let frames = 0;
  for await (const { kind } of events) {
    if (kind === 'frame') frames += 1;
    if (frames === 250) await results.deliver(shown(taskId, 250, 1));
    if (frames === 251) break;
  }
  return turns;
}

test('pages of a stream that searches stored frames wait for their turn among subjects, and new frames do not', async () => {
  expect(await turnsOf({ skip_empty: 'true' })).toEqual(['subject-a', 'subject-a', 'subject-a']);
  expect(await turnsOf({ from_ms: '0' })).toEqual(['subject-a', 'subject-a', 'subject-a']);
  expect(await turnsOf({})).toEqual([]);
});
