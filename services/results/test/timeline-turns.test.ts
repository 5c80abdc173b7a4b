import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dayOfTask } from '@vision/contracts/ids';
import type { Gate } from '@vision/shared/async/gate';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { addPartitions } from '../src/db/partitions.ts';
import { saveHours } from '../src/db/timeline-hours.ts';
import { encodeHour } from '../src/domain/fold/hour-codec.ts';
import { createSignals } from '../src/signals.ts';
import { getTimeline } from '../src/use-cases/read/get-timeline.ts';
import { logger, snapshot, startResults, taskIdAt, testResults } from './support.ts';
import type { TestResults } from './support.ts';

const HOUR_MS = 3_600_000;
const query = { fromMs: undefined, toMs: undefined, bucketMs: undefined, minScore: undefined };

let database: TestDatabase;
let results: TestResults;
let store: SegmentStore;
beforeAll(async () => {
  database = await testResults();
  results = await startResults({}, database);
  store = createSegmentStore(results.s3);
});
afterAll(async () => {
  store.close();
  await results.stop();
  await database.drop();
});

/** A stream of ten days with 200 stored hours. */
async function longTask(): Promise<string> {
  const startMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 240 * HOUR_MS;
  const taskId = taskIdAt(startMs);
  const day = dayOfTask(taskId) ?? '';
  await results.tell(snapshot(taskId, 'subject-a', { kind: 'stream' }));
  const hours = Array.from({ length: 200 }, (_, at) => encodeHour(startMs + at * HOUR_MS, new Map(), new Map()));
  await database.db.transaction(async (tx) => {
    await addPartitions(tx, day);
    await saveHours(tx, { day, taskId }, hours);
  });
  return taskId;
}

const readWith = (timelines: Pick<Gate, 'run'>, taskId: string, signal: AbortSignal) => {
  const unknown = { find: () => Promise.reject(new Error('is known')) };
  const settings = { endPatienceMs: 60_000 };
  const own = { db: database.db, signals: createSignals(logger), store, wakeFold: () => undefined };
  const deps = { ...own, settings, taskOwners: unknown, timelines } as unknown as Parameters<typeof getTimeline>[0];
  return getTimeline(deps, { subject: 'subject-a', taskId, query, signal });
};

test('a timeline waits for its slot among subjects, and ends when the caller has disconnected', async () => {
  const taskId = await longTask();
  const caller = new AbortController();
  const turns: unknown[] = [];
  const open: Pick<Gate, 'run'> = { run: (work, turn) => (turns.push(turn), work()) };
  expect(await readWith(open, taskId, caller.signal)).toMatchObject({ bucketMs: 900_000 });
  expect(turns).toEqual([{ owner: 'subject-a', signal: caller.signal }]);
  caller.abort(new Error('the caller has gone'));
  await expect(readWith(open, taskId, caller.signal)).rejects.toThrow('the caller has gone');
});
