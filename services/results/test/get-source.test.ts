import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { until } from '@vision/shared/testing/until';
import { inTransaction } from '@vision/shared/db/transaction';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { storeSource } from '../src/use-cases/store/store-source.ts';
import { frame, internalTask, logger, newTaskId, snapshot, startResults, testSettings } from './support.ts';
import type { TestResults } from './support.ts';

interface SourceBody {
  state: string;
  since_ms: number;
  items: { at_ms: number; state: string; reason?: string }[];
  next_cursor: string;
  [field: string]: unknown;
}

let results: TestResults;

beforeAll(async () => {
  results = await startResults();
  const { frames, tasks, jobs } = results.service.consumers;
  await Promise.all([frames.joined, tasks.joined, jobs.joined]);
});
afterAll(() => results.stop());

const START_MS = 1_790_000_000_000;
const reported = (taskId: string, n: number, facts: Partial<SourceChangedData> = {}) =>
  results.database.db.transaction((tx) =>
    storeSource(
      { db: tx },
      {
        job_id: taskId,
        attempt: 1,
        n,
        at_ms: START_MS + n,
        since_ms: START_MS + n,
        state: 'streaming',
        ...facts,
      },
    ),
  );

async function source(
  taskId: string,
  query = '',
  subject = 'subject-a',
): Promise<{ status: number; body: SourceBody }> {
  const answer = await results.get(`/v1/vision/tasks/${taskId}/source${query}`, subject);
  return { status: answer.status, body: (await answer.json()) as SourceBody };
}

test('tells what a stream does now, with the counts of all its attempts', async () => {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a', { status: 'running', kind: 'stream' }));
  await results.deliver([frame(task, 0, { frame_time_ms: 40 }), frame(task, 1, { frame_time_ms: 240 })]);
  const dropped = { fresher: 2, no_number: 0, not_held: 0, unsent: 1 };
  await reported(task, 1, { state: 'connecting' });
  await reported(task, 2, { dropped, reconnects: 3 });
  await reported(task, 1, {
    attempt: 2,
    at_ms: START_MS + 9,
    since_ms: START_MS + 9,
    state: 'stalled',
    codec: 'h264',
    image: { width: 1920, height: 1080 },
    sample_fps: 5,
    measured_fps: 0,
    is_behind: false,
    dropped: { ...dropped, fresher: 5 },
    reconnects: 1,
  });
  expect(await source(task)).toEqual({
    status: 200,
    body: {
      kind: 'stream',
      state: 'stalled',
      since_ms: START_MS + 9,
      last_frame_time_ms: 240,
      sample_fps: 5,
      measured_fps: 0,
      is_behind: false,
      coverage: expect.objectContaining({ covered_ms: 0, gaps: 1 }) as unknown,
      codec: 'h264',
      image: { width: 1920, height: 1080 },
      frames: { stored: 2, dropped: { fresher: 7, no_number: 0, not_held: 0, unsent: 2 } },
      reconnects: 4,
      items: [
        { at_ms: START_MS + 9, state: 'stalled' },
        { at_ms: START_MS + 2, state: 'streaming' },
        { at_ms: START_MS + 1, state: 'connecting' },
      ],
      next_cursor: '',
    },
  });
});

test('names the last frame, also when it is stored while the answer is made', async () => {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a', { status: 'running', kind: 'stream' }));
  await results.deliver([frame(task, 0, { frame_time_ms: 40 })]);
  const { db } = results.database;
  // The task has been read, its source has not.
  const held = await db.transaction();
  await held.raw('lock table sources in access exclusive mode');
  const answer = source(task);
  await until(
    async () =>
      (
        await db('pg_locks')
          .where({ granted: false })
          .whereRaw(`relation = 'sources'::regclass`)
          .whereRaw('database = (select oid from pg_database where datname = current_database())')
      ).length > 0,
  );
  // The events come from the test, not from Kafka: the service waits for the lock for three seconds only.
  const signals = createSignals(logger);
  const keeping = {
    partitions: createPartitionKeeper(db, 90),
    settings: testSettings,
    signals,
    wakeRelay: () => undefined,
  };
  const data = frame(task, 1, { frame_time_ms: 240 });
  await storeFrames(keeping, [{ kind: 'frame', data }], (work) => inTransaction(db, work));
  await held.commit();
  expect((await answer).body).toMatchObject({ frames: { stored: 2 }, last_frame_time_ms: 240 });
});

test('a task whose backend reports nothing is unknown, and so is one whose worker stopped reporting', async () => {
  const [silent, stale] = [newTaskId(), newTaskId()];
  for (const task of [silent, stale]) await results.tell(snapshot(task, 'subject-a', { status: 'running' }));
  expect((await source(silent)).body).toMatchObject({ state: 'unknown', frames: { stored: 0 }, items: [] });
  await reported(stale, 1, { measured_fps: 5 });
  expect((await source(stale)).body).toMatchObject({ state: 'streaming', measured_fps: 5 });
  await results.database.db.raw(`update sources set updated_at = now() - interval '151 s' where task_id = ?`, [stale]);
  const { body } = await source(stale);
  expect(body).toMatchObject({ state: 'unknown', since_ms: START_MS + 1 });
  expect(body['measured_fps']).toBeUndefined();
});

test('a stream that waits for another connection is shown as waiting until its wait expires', async () => {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a', { status: 'running', kind: 'stream' }));
  const absence = { away_since_ms: START_MS, gives_up_at_ms: Date.now() + 3_600_000 };
  await reported(task, 1, { state: 'waiting', reason: 'connection_failed', ...absence });
  const aged = (by: string) =>
    results.database.db.raw(`update sources set updated_at = now() - ?::interval where task_id = ?`, [by, task]);
  // No worker reports it while it waits for capacity.
  await aged('1 hour');
  const { body } = await source(task);
  expect(body).toMatchObject({ state: 'waiting', ...absence, items: [{ state: 'waiting', reason: 'unreachable' }] });
  await reported(task, 2, { state: 'waiting', ...absence, gives_up_at_ms: Date.now() - 151_000 });
  await aged('1 hour');
  expect((await source(task)).body).toMatchObject({ state: 'unknown' });
  await reported(task, 3);
  const streaming = (await source(task)).body;
  expect(streaming).toMatchObject({ state: 'streaming' });
  expect([streaming['away_since_ms'], streaming['gives_up_at_ms']]).toEqual([undefined, undefined]);
});

test.each([
  ['failed', 'auth_failed', 'auth_failed', /credentials/],
  ['failed', 'connection_failed', 'unreachable', /camera/],
  ['failed', 'job_vanished', 'service_fault', /operator/],
  ['refunded', 'ECONNREFUSED 10.0.0.7:554', 'unknown', /Create a new task/],
] as const)('tells why a task is %s: %s is shown as %s', async (status, reason, shown, advice) => {
  const task = newTaskId();
  const endedAt = '2026-03-15T09:00:00.000Z';
  await results.tell(snapshot(task, 'subject-a', { status, reason, ended_at: endedAt }));
  const { body } = await source(task);
  expect(body).toMatchObject({
    state: 'ended',
    since_ms: Date.parse(endedAt),
    ended: { status, reason: shown, advice: expect.stringMatching(advice) as unknown },
  });
  expect(JSON.stringify(body)).not.toContain('10.0.0.7');
});

test('pages through earlier states, each once, newest first', async () => {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a', { status: 'running' }));
  for (let n = 1; n <= 5; n += 1)
    await reported(task, n, n % 2 ? { state: 'streaming' } : { state: 'reconnecting', reason: 'timeout' });
  const times: number[] = [];
  let cursor = '';
  do {
    const { body } = await source(task, `?limit=2&cursor=${cursor}`);
    times.push(...body.items.map(({ at_ms: at }) => at - START_MS));
    cursor = body.next_cursor;
  } while (cursor !== '');
  expect(times).toEqual([5, 4, 3, 2, 1]);
  expect((await source(task)).body.items[1]).toMatchObject({ state: 'reconnecting', reason: 'unreachable' });
});

test('a view of an earlier release gets its kind from tasks', async () => {
  const task = newTaskId();
  const told = snapshot(task, 'subject-a', { status: 'running', kind: 'upload' });
  await results.tell(told);
  await results.database.db('task_views').where({ task_id: task }).update({ kind: null });
  results.tasks.answers.set(`/internal/v1/tasks/${task}`, { status: 200, body: internalTask(told) });
  expect((await source(task)).body['kind']).toBe('upload');
  results.tasks.answers.clear();
  expect((await source(task)).body['kind']).toBe('upload');
});

test.each([
  ['?limit=0', 'query_invalid'],
  ['?limit=1&limit=2', 'query_invalid'],
  ['?colour=red', 'unknown_field'],
  ['?cursor=garbage', 'cursor_invalid'],
])('refuses %s', async (query, reason) => {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a'));
  expect(await source(task, query)).toMatchObject({ status: 400, body: { details: { reason } } });
});

test('refuses cursors of results and of other tasks, and hides tasks of others', async () => {
  const [task, other] = [newTaskId(), newTaskId()];
  for (const id of [task, other]) {
    await results.tell(snapshot(id, 'subject-a', { status: 'running' }));
    await reported(id, 1);
    await reported(id, 2, { state: 'stalled' });
  }
  const { body } = await source(other, '?limit=1');
  const page = (await (await results.get(`/v1/vision/tasks/${task}/results`)).json()) as { resume_cursor: string };
  for (const cursor of [body.next_cursor, page.resume_cursor])
    expect(await source(task, `?cursor=${cursor}`)).toMatchObject({ body: { details: { reason: 'cursor_invalid' } } });
  const [foreign, never] = [await source(task, '', 'subject-b'), await source(randomUUID(), '', 'subject-b')];
  expect([foreign.status, never.status]).toEqual([404, 404]);
});
