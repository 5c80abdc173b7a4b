import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { dayOfTask } from '@vision/contracts/ids';
import { inTransaction } from '@vision/shared/db/transaction';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { addPartitions } from '../src/db/partitions.ts';
import { insertSegments, segmentsAfterInTime } from '../src/db/segments.ts';
import type { NewSegment } from '../src/db/segments.ts';
import { nothingRead } from '../src/domain/cursor.ts';
import type { Progress } from '../src/domain/cursor.ts';
import { parseResultQuery } from '../src/domain/result-query.ts';
import type { TimeRange } from '../src/domain/result-query.ts';
import { checksumOf } from '@vision/contracts/segments/pack';
import { encodeSegment } from '../src/domain/segments/segment.ts';
import { createSignals } from '../src/signals.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { narrowToTrack, readShown } from '../src/use-cases/read/read-shown.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { foldDeps } from './fold-deps.ts';
import { logger, newTaskId, object, testResults } from './support.ts';

const FRAMES = 4;
const SEGMENTS = 300;

let database: TestDatabase;
let taskId: string;
const bodies = new Map<string, Buffer>();
let fetched: string[] = [];
let statements = 0;
let storeMs = 0;

beforeAll(async () => {
  database = await testResults();
  taskId = newTaskId();
  await addTask();
  database.db.on('query', () => (statements += 1));
});
afterAll(() => database.drop());
beforeEach(() => {
  fetched = [];
  statements = 0;
  storeMs = 0;
  // A page also ends after 300 ms, which a busy machine may need for one statement.
  jest.spyOn(performance, 'now').mockReturnValue(0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Cold segments of four frames a second apart; every hundredth segment has a car, the others have persons. */
async function addTask(): Promise<void> {
  const day = dayOfTask(taskId) ?? '';
  const segments = Array.from({ length: SEGMENTS }, (_, number): NewSegment => {
    const frames = Array.from({ length: FRAMES }, (_unused, place) => {
      const seq = number * FRAMES + place;
      const objects = [{ ...object(0.9, number % 100 === 99 ? 'car' : 'person'), track_id: `t${number}` }];
      return { seq, attempt: 1, position: seq + 1, frameTimeMs: seq * 1000, width: 640, height: 360, objects };
    });
    const { facts, heads, body } = encodeSegment(frames, 'small');
    const objectKey = `segment ${number}`;
    bodies.set(objectKey, body);
    return { day, taskId, facts, heads, body: undefined, objectKey, bytes: body.length, checksum: checksumOf(body) };
  });
  await inTransaction(database.db, async (tx) => {
    await addPartitions(tx, day);
    await insertSegments(tx, segments);
  });
}

const store = {
  get: ({ objectKey }: { objectKey: string }) => {
    fetched.push(objectKey);
    return delay(storeMs, bodies.get(objectKey) ?? Buffer.alloc(0));
  },
} as unknown as SegmentStore;

const read = async (query: Record<string, string>, from: Progress = nothingRead) => {
  const asked = parseResultQuery(query);
  const state = { position: SEGMENTS * FRAMES, late_position: 0, is_late_listed: true };
  const flags = { is_expired: false, is_long_over: false, is_complete: false, status: 'running' as const, kind: null };
  const facts = { is_just_over: false, snapshots: null, result_expires_at: new Date() };
  const task = { lower_bound: 0.3, default_min_score: 0.5, ...state, ...flags, ...facts };
  const deps = { db: database.db, signals: createSignals(logger), store, wakeFold: () => undefined };
  const { selection } = await narrowToTrack(deps, taskId, { selection: asked, position: task.position });
  const page = await readShown(deps, taskId, { task, from, limit: asked.limit, selection, signal: undefined });
  return { ...page, seqs: page.frames.map(({ seq }) => seq) };
};

/** The numbers of all frames, page by page. */
async function readAll(query: Record<string, string>): Promise<number[]> {
  const seqs: number[] = [];
  let from = nothingRead;
  for (let hasMore = true; hasMore;) {
    const page = await read(query, from);
    seqs.push(...page.seqs);
    ({ progress: from, hasMore } = page);
  }
  return seqs;
}

test('a page of a search opens 64 cold segments at most and goes on behind them', async () => {
  const seen: number[] = [];
  let from = nothingRead;
  let pages = 0;
  for (let hasMore = true; hasMore; pages += 1) {
    fetched = [];
    const page = await read({ skip_empty: 'true', track_id: 'nobody' }, from);
    expect(fetched.length).toBeLessThanOrEqual(64);
    seen.push(...page.seqs);
    ({ progress: from, hasMore } = page);
  }
  expect(seen).toEqual([]);
  expect(pages).toBeGreaterThan(3);
  expect(from).toEqual({ seq: SEGMENTS * FRAMES - 1, position: SEGMENTS * FRAMES });
});

test('segments without the labels of a search are not opened', async () => {
  const cars = await readAll({ skip_empty: 'true', labels: 'car', limit: '500' });
  expect(cars).toEqual([396, 397, 398, 399, 796, 797, 798, 799, 1196, 1197, 1198, 1199]);
  expect(new Set(fetched)).toEqual(new Set(['segment 99', 'segment 199', 'segment 299']));
  fetched = [];
  expect(await readAll({ skip_empty: 'true', labels: 'dog', limit: '500' })).toEqual([]);
  expect(await readAll({ skip_empty: 'true', min_score: '0.95', limit: '500' })).toEqual([]);
  expect(fetched).toEqual([]);
});

test('a search by time begins at its first segment and ends behind its last one', async () => {
  const page = await read({ from_ms: '1000500', to_ms: '1004000' });
  expect([page.seqs, page.hasMore]).toEqual([[1001, 1002, 1003], false]);
  expect(fetched).toEqual(['segment 250']);
  // Rows and segments from there on, and once more after them, where none is in the requested times.
  expect(statements).toBe(4);
});

test('pages of a range of times have its frames once each', async () => {
  const seen = await readAll({ from_ms: '398000', to_ms: '1196000', limit: '150' });
  expect(seen).toEqual(Array.from({ length: 798 }, (_, at) => 398 + at));
});

test('the first segment of a time is found by the index of times', async () => {
  const { db } = database;
  const range = { day: dayOfTask(taskId) ?? '', taskId, upToPosition: SEGMENTS * FRAMES };
  const firstOf = async (seq: number, times: TimeRange) =>
    (await segmentsAfterInTime(db, range, { seq, times, limit: 16 })).map(({ firstSeq }) => firstSeq).slice(0, 2);
  expect(await firstOf(-1, { fromMs: 1_000_500, toMs: 2_000_000 })).toEqual([1000, 1004]);
  expect(await firstOf(1003, { fromMs: 0, toMs: 1000 })).toEqual([]);
  expect(await firstOf(101, { fromMs: 108_000, toMs: 2_000_000 })).toEqual([100, 104]);
  const { rows } = await db.raw<{ rows: { valid: boolean; parts: number }[] }>(
    `select x.indisvalid as valid, (select count(*)::int from pg_inherits where inhparent = x.indexrelid) as parts
       from pg_index as x where x.indexrelid = 'segments_times'::regclass`,
  );
  expect(rows).toEqual([{ valid: true, parts: 1 }]);
});

test('a page of a search ends at its time limit, however few segments it has opened, and the next one goes on', async () => {
  jest.restoreAllMocks();
  storeMs = 200;
  const page = await read({ skip_empty: 'true', track_id: 'nobody' });
  expect([page.seqs, page.hasMore]).toEqual([[], true]);
  expect(fetched.length).toBeLessThan(64);
  expect(page.progress.seq).toBe(fetched.length * FRAMES - 1);
});

test('a search of a track whose task is folded opens the segments of its time alone', async () => {
  const { db } = database;
  const position = SEGMENTS * FRAMES;
  await db('ingests').insert({ task_id: taskId, stored: position, position, max_seq: position - 1 });
  await foldTask(foldDeps(db, store), taskId);
  fetched = [];
  const query = { skip_empty: 'true', track_id: 't150' };
  const page = await read(query);
  expect([page.seqs, page.hasMore]).toEqual([[600, 601, 602, 603], false]);
  expect(new Set(fetched)).toEqual(new Set(['segment 150']));
  expect((await read({ ...query, from_ms: '602000' })).seqs).toEqual([602, 603]);
  expect((await read({ ...query, to_ms: '600000' })).seqs).toEqual([]);
  fetched = [];
  const nobody = await read({ skip_empty: 'true', track_id: 'nobody' });
  expect([nobody.seqs, nobody.hasMore, fetched]).toEqual([[], false, []]);
  // Frames without the track stay unless they are to be skipped.
  expect((await read({ track_id: 't150', from_ms: '599000', to_ms: '601000' })).seqs).toEqual([599, 600]);
});
