import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { foldDeps } from './fold-deps.ts';
import { frame, mark, newTaskId, object, snapshot, startResults, testResults } from './support.ts';
import type { TestResults } from './support.ts';
import type { TestDatabase } from '@vision/shared/testing/postgres';

let database: TestDatabase;
let results: TestResults;
let store: SegmentStore;

beforeAll(async () => {
  database = await testResults();
  // Tasks are folded by the tests, and on reading a task from before the upgrade.
  results = await startResults({ END_CHECK_MS: '600000' }, database);
  store = createSegmentStore(results.s3);
});
afterAll(async () => {
  store.close();
  await results.stop();
  await database.drop();
});

interface Track {
  track_id: string;
  state: string;
  ended_by?: string;
  frames: number;
  first_time_ms: number;
  last_time_ms: number;
  best: { frame_id: string; score: number };
}

interface TrackPage {
  items: Track[];
  next_cursor: string;
  resume_cursor: string;
  as_of_ms: number | null;
}

const list = async (taskId: string, query = ''): Promise<TrackPage> => {
  const response = await results.get(`/v1/vision/tasks/${taskId}/tracks${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as TrackPage;
};

const newTask = async (facts: Parameters<typeof snapshot>[2] = {}) => {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a', facts));
  return taskId;
};

const seen = (trackId: string, score = 0.9, label = 'person') => ({ ...object(score, label), track_id: trackId });

/** Frames five times a second; object `a1-n` is in the frames of second 10 n to 10 n + 4. */
const passers = (taskId: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => {
    const seq = from + index;
    const second = Math.floor(seq / 5);
    const objects = second % 10 < 5 ? [seen(`a1-${Math.floor(second / 10)}`)] : [];
    return frame(taskId, seq, { objects });
  });

/** Folds a task until all its frames are folded. */
async function folded(taskId: string): Promise<void> {
  const { db } = database;
  const deps = foldDeps(db, store);
  await until(async () => {
    await foldTask(deps, taskId);
    const row = await db('folds')
      .join('ingests', 'ingests.task_id', 'folds.task_id')
      .where('folds.task_id', taskId)
      .first<{ at: number; position: number } | undefined>('folds.position as at', 'ingests.position');
    return row !== undefined && row.at === row.position;
  });
}

test('lists tracks whether their frames are folded or not', async () => {
  const taskId = await newTask();
  await results.deliver(passers(taskId, 0, 130));
  const before = await list(taskId);
  expect(before.items.map(({ track_id: id, state, frames }) => [id, state, frames])).toEqual([
    ['a1-0', 'ended', 25],
    ['a1-1', 'ended', 25],
    ['a1-2', 'active', 25],
  ]);
  expect(before.as_of_ms).toBe(129 * 200);
  expect(await database.db('folds').where({ task_id: taskId })).toEqual([]);
  await folded(taskId);
  expect(await list(taskId)).toEqual(before);
  expect(await database.db('tracks').where({ task_id: taskId }).pluck('track_id')).toEqual(['a1-0', 'a1-1']);
});

test('counts a frame that comes late in the tracks that are stored already', async () => {
  const taskId = await newTask();
  const all = passers(taskId, 0, 130);
  await results.deliver(all.filter(({ seq }) => seq !== 0 && seq !== 52));
  await folded(taskId);
  expect((await list(taskId)).items.map(({ frames }) => frames)).toEqual([24, 24, 25]);
  await results.deliver(all.filter(({ seq }) => seq === 0 || seq === 52));
  const after = (await list(taskId)).items;
  expect(after.map(({ frames, first_time_ms: first }) => [frames, first])).toEqual([
    [25, 0],
    [25, 10_000],
    [25, 20_000],
  ]);
  await folded(taskId);
  expect((await list(taskId)).items).toEqual(after);
});

test('pages through tracks in both orders', async () => {
  const taskId = await newTask();
  await results.deliver(passers(taskId, 0, 280));
  await folded(taskId);
  await results.deliver(passers(taskId, 280, 330));
  const names = ['a1-0', 'a1-1', 'a1-2', 'a1-3', 'a1-4', 'a1-5', 'a1-6'];
  for (const order of ['oldest', 'newest']) {
    const ids: string[] = [];
    for (let cursor = ''; ;) {
      const page = await list(taskId, `?limit=2&order=${order}&cursor=${cursor}`);
      ids.push(...page.items.map(({ track_id: id }) => id));
      cursor = page.next_cursor;
      if (cursor === '') break;
    }
    expect(ids).toEqual(order === 'oldest' ? names : names.toReversed());
  }
});

test('order=changed returns each track once per change until the task has ended', async () => {
  const taskId = await newTask();
  await results.deliver(passers(taskId, 0, 60));
  const first = await list(taskId, '?order=changed');
  expect(first.items.map(({ track_id: id, state }) => [id, state])).toEqual([
    ['a1-0', 'ended'],
    ['a1-1', 'active'],
  ]);
  expect((await list(taskId, `?order=changed&cursor=${first.resume_cursor}`)).items).toEqual([]);
  await folded(taskId);
  expect((await list(taskId, `?order=changed&cursor=${first.resume_cursor}`)).items).toEqual([]);
  await results.deliver(passers(taskId, 60, 110));
  const second = await list(taskId, `?order=changed&cursor=${first.resume_cursor}`);
  expect(second.items.map(({ track_id: id, state }) => [id, state])).toEqual([
    ['a1-1', 'ended'],
    ['a1-2', 'active'],
  ]);
  await results.tell(
    snapshot(taskId, 'subject-a', { version: 2, status: 'succeeded', ended_at: new Date().toISOString() }),
  );
  await results.deliver([mark(taskId, { attempt_frames: { count: 110, first_seq: 0, last_seq: 109 } })]);
  const last = await list(taskId, `?order=changed&cursor=${second.resume_cursor}`);
  expect(last.items.map(({ track_id: id, ended_by: by }) => [id, by])).toEqual([['a1-2', 'task_end']]);
  expect(last.resume_cursor).toBe('');
});

test('says what ended a track', async () => {
  const taskId = await newTask();
  const at = (seq: number, seconds: number, ids: string[]) =>
    frame(taskId, seq, { frame_time_ms: 1000 * seconds, objects: ids.map((id) => seen(id)) });
  await results.deliver([
    at(0, 0, ['a1-1', 'a1-2']),
    at(1, 1, ['a1-1', 'a1-2']),
    at(2, 2, ['a1-2']),
    at(3, 3, ['a1-2']),
    at(4, 4, ['a1-2']),
    at(5, 60, ['a1-3']),
    at(6, 61, ['a1-3']),
    at(7, 62, ['a2-1']),
    at(8, 63, ['a2-1']),
  ]);
  const ends = async () => (await list(taskId)).items.map(({ track_id: id, ended_by: by }) => [id, by]);
  const expected = [
    ['a1-1', 'left'],
    ['a1-2', 'gap'],
    ['a1-3', 'attempt'],
    ['a2-1', undefined],
  ];
  expect(await ends()).toEqual(expected);
  await folded(taskId);
  expect(await ends()).toEqual(expected);
});

test('filters by time, label, score, duration and state', async () => {
  const taskId = await newTask();
  const cars = Array.from({ length: 10 }, (_, index) =>
    frame(taskId, 400 + index, { frame_time_ms: 80_000 + 200 * index, objects: [seen('a1-car', 0.5, 'car')] }),
  );
  await results.deliver([...passers(taskId, 0, 400), ...cars]);
  const ids = async (query: string) => (await list(taskId, query)).items.map(({ track_id: id }) => id);
  const expected: [string, string[]][] = [
    ['?from_ms=10000&to_ms=30000', ['a1-1', 'a1-2']],
    ['?from_ms=14800&to_ms=14801', ['a1-1']],
    ['?labels=car', []],
    ['?labels=car,bus&min_score=0.5', ['a1-car']],
    ['?labels=unknown&min_score=0', []],
    ['?min_score=0.50001&from_ms=70000', ['a1-7']],
    ['?min_score=0&min_duration_ms=1801&from_ms=70000', ['a1-7']],
    ['?min_score=0&state=active', ['a1-car']],
  ];
  for (const [query, tracks] of expected) expect([query, await ids(query)]).toEqual([query, tracks]);
  await folded(taskId);
  for (const [query, tracks] of expected) expect([query, await ids(query)]).toEqual([query, tracks]);
});

test('finds the tracks of a stream by the time of day', async () => {
  const taskId = await newTask();
  const atMs = Date.now();
  await results.deliver([frame(taskId, 0, { frame_time_ms: atMs, objects: [seen('a1-1')] })]);
  const ids = async (from: number) => (await list(taskId, `?from_ms=${from}&to_ms=${from + 10}`)).items.length;
  expect([await ids(atMs - 5), await ids(atMs + 5), await ids(-(2 ** 53) + 1)]).toEqual([1, 0, 0]);
});

test('finds a track that lasts for longer than ten minutes by a moment in it', async () => {
  const taskId = await newTask();
  const at = (seq: number, minutes: number, ids: string[]) =>
    frame(taskId, seq, { frame_time_ms: 60_000 * minutes, objects: ids.map((id) => seen(id)) });
  await results.deliver([at(0, 0, ['a1-1']), at(1, 50, ['a1-1']), at(2, 51, []), at(3, 52, [])]);
  await folded(taskId);
  const { items } = await list(taskId, '?from_ms=2400000&to_ms=2460000');
  expect(items.map(({ track_id: id }) => id)).toEqual(['a1-1']);
});

test('returns one track, and 404 for any other', async () => {
  const taskId = await newTask();
  await results.deliver(passers(taskId, 0, 130));
  const one = async (id: string, subject?: string) => results.get(`/v1/vision/tasks/${taskId}/tracks/${id}`, subject);
  expect(await (await one('a1-2')).json()).toMatchObject({
    track_id: 'a1-2',
    state: 'active',
    best: { frame_id: `${taskId}-100`, score: 0.9 },
    mean_score: 0.9,
    snapshot: { state: 'none', reason: 'not_supported' },
  });
  for (const id of ['a1-9', 'x'.repeat(10_000), '%00', 'a%2Fb']) {
    const response = await one(id);
    expect([id.slice(0, 9), response.status]).toEqual([id.slice(0, 9), 404]);
  }
  expect((await one('a1-2', 'subject-b')).status).toBe(404);
});

test.each([
  ['limit=0', 'query_invalid'],
  ['order=best', 'query_invalid'],
  ['labels=', 'query_invalid'],
  ['labels=person,,car', 'query_invalid'],
  [`labels=${Array.from({ length: 33 }, () => 'a').join()}`, 'query_invalid'],
  [`labels=${'x'.repeat(101)}`, 'query_invalid'],
  ['labels=%00', 'query_invalid'],
  ['from_ms=5&to_ms=5', 'query_invalid'],
  ['from_ms=9007199254740993', 'query_invalid'],
  ['from_ms=1&from_ms=2', 'query_invalid'],
  ['min_score=NaN', 'query_invalid'],
  ['min_duration_ms=-1', 'query_invalid'],
  ['state=gone', 'query_invalid'],
  ['colour=red', 'unknown_field'],
  ['cursor=AAAA', 'cursor_invalid'],
])('refuses %s', async (query, reason) => {
  const taskId = await newTask();
  const response = await results.get(`/v1/vision/tasks/${taskId}/tracks?${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ details: { reason } });
});

test('refuses a cursor of another task, another order or the results', async () => {
  const [taskId, other] = [await newTask(), await newTask()];
  await results.deliver([...passers(taskId, 0, 130), ...passers(other, 0, 130)]);
  const { next_cursor: cursor } = await list(taskId, '?limit=1');
  const page = await results.get(`/v1/vision/tasks/${taskId}/results?limit=1`);
  const { next_cursor: ofResults } = (await page.json()) as { next_cursor: string };
  for (const path of [
    `${other}/tracks?cursor=${cursor}`,
    `${taskId}/tracks?order=newest&cursor=${cursor}`,
    `${taskId}/tracks?cursor=${ofResults}`,
    `${taskId}/results?cursor=${cursor}`,
  ])
    expect((await results.get(`/v1/vision/tasks/${path}`)).status).toBe(400);
  expect((await results.get(`/v1/vision/tasks/${randomUUID()}/tracks`)).status).toBe(404);
});

test('folds a task from before the upgrade when its tracks are requested', async () => {
  const taskId = await newTask();
  for (let from = 0; from < 2_500; from += 500) await results.deliver(passers(taskId, from, from + 500));
  await folded(taskId);
  const whole = await list(taskId, '?limit=500');
  for (const table of ['folds', 'tracks', 'timeline_hours'])
    await database.db(table).where({ task_id: taskId }).delete();
  const early = await list(taskId, '?limit=500');
  expect(early.as_of_ms).toBeLessThan(whole.as_of_ms ?? 0);
  await until(async () => (await list(taskId, '?limit=500')).as_of_ms === whole.as_of_ms);
  expect(await list(taskId, '?limit=500')).toEqual(whole);
});

test.each(['oldest', 'changed'])('a task without a track yet gives a cursor to follow from by %s', async (order) => {
  const taskId = await newTask();
  await results.deliver([frame(taskId, 0, { objects: [] })]);
  const first = await list(taskId, `?order=${order}`);
  expect([first.items, first.next_cursor]).toEqual([[], '']);
  expect(first.resume_cursor).not.toBe('');
  await results.deliver(passers(taskId, 1, 6));
  const next = await list(taskId, `?order=${order}&cursor=${first.resume_cursor}`);
  expect(next.items.map(({ track_id: id }) => id)).toEqual(['a1-0']);
});

test('a reader of changes whose task is folded first learns where to go on', async () => {
  const taskId = await newTask();
  for (let from = 0; from < 2_500; from += 500) await results.deliver(passers(taskId, from, from + 500));
  await database.db('ingests').where({ task_id: taskId }).update({ fold_at: null });
  for (const table of ['folds', 'tracks', 'timeline_hours'])
    await database.db(table).where({ task_id: taskId }).delete();
  let page = await list(taskId, '?order=changed&limit=500');
  expect([page.items, page.next_cursor]).toEqual([[], '']);
  expect(page.resume_cursor).not.toBe('');
  const ids: string[] = [];
  await until(async () => {
    page = await list(taskId, `?order=changed&limit=500&cursor=${page.resume_cursor}`);
    ids.push(...page.items.map(({ track_id: id }) => id));
    return ids.length > 0;
  });
  expect(ids.toSorted()).toEqual(Array.from({ length: 50 }, (_, at) => `a1-${at}`).toSorted());
});

test('a negative time is one of an upload, in every query', async () => {
  for (const [kind, status] of [
    ['stream', 400],
    ['upload', 200],
  ] as const) {
    const taskId = await newTask({ kind });
    await results.deliver([frame(taskId, 0)]);
    for (const query of ['from_ms=-1', 'from_ms=-2&to_ms=-1']) {
      const seen = ['results', 'tracks', 'timeline'].map(async (view) => {
        const answer = await results.get(`/v1/vision/tasks/${taskId}/${view}?${query}`);
        return [kind, view, answer.status];
      });
      expect(await Promise.all(seen)).toEqual(['results', 'tracks', 'timeline'].map((view) => [kind, view, status]));
    }
    const stream =
      kind === 'stream' ? (await results.get(`/v1/vision/tasks/${taskId}/results/stream?to_ms=-1`)).status : 0;
    expect(stream).toBe(kind === 'stream' ? 400 : 0);
  }
});
