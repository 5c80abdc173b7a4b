import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Difference } from '@vision/contracts/audit';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { turnIntoRows } from './rows.ts';
import { frame, mark, newTaskId, snapshot, startResults } from './support.ts';
import type { TestResults } from './support.ts';

const metrics = testMetrics();
let results: TestResults;
beforeAll(async () => {
  results = await startResults({
    // Rows stay rows in these tests.
    SEGMENT_INTERVAL_MS: '3600000',
    AUDIT_INTERVAL_MS: '100',
    AUDIT_AGE_MS: '3000',
    FRAME_PATIENCE_MS: '200',
    END_CHECK_MS: '50',
  });
});
afterAll(() => results.stop());

const differences = async (): Promise<Difference[]> => {
  const answer = await results.call('GET', '/internal/v1/differences');
  return ((await answer.json()) as { items: Difference[] }).items;
};
const named = async (id: string) => (await differences()).filter((difference) => difference.id === id);
const gauge = () => metrics.sumOf('vision.audit.differences', { kind: 'stored_frames' });
const ended = (taskId: string) =>
  results.tell(snapshot(taskId, 'subject-a', { version: 3, status: 'succeeded', ended_at: new Date().toISOString() }));

test('an end-of-stream marker that has become overdue, and its event without an announcement, are found soon', async () => {
  const task = newTaskId();
  const announced = () => results.database.db('outbox').where({ key: task }).whereNotNull('published_at');
  await results.deliver([frame(task, 0), mark(task, { frames_published: 2 })]);
  await until(async () => (await announced()).length === 1);
  await results.database.db('outbox').where({ key: task }).update({ published_at: null });
  await until(async () => (await announced()).length === 1);
});

test('frames without an end-of-stream marker are reported once their task has ended, until the marker comes', async () => {
  const task = newTaskId();
  await results.deliver([frame(task, 0), frame(task, 1)]);
  await ended(task);
  await until(async () => (await named(task)).length === 1);
  expect(await named(task)).toMatchObject([
    { kind: 'stored_frames', details: { task_id: task, counted: 2, frames: 2, end_mark: false } },
  ]);
  await until(async () => (await gauge()) === 1);
  await results.deliver([mark(task, { frames_published: 2 })]);
  await until(async () => (await named(task)).length === 0);
  await until(async () => (await gauge()) === 0);
});

test('a task of which nothing arrived although frames were published is reported', async () => {
  const [torn, empty] = [newTaskId(), newTaskId()];
  const facts = { version: 3, status: 'stopped', ended_at: new Date().toISOString() } as const;
  await results.tell(snapshot(empty, 'subject-a', { ...facts, frames_published: 0 }));
  await results.tell(snapshot(torn, 'subject-a', { ...facts, frames_published: 7 }));
  await until(async () => (await named(torn)).length === 1);
  expect(await named(torn)).toMatchObject([{ details: { published: 7, counted: 0, frames: 0, end_mark: false } }]);
  expect(await named(empty)).toEqual([]);
});

test('a task whose backend lost the job has no end-of-stream marker and needs none', async () => {
  const [lost, torn] = [newTaskId(), newTaskId()];
  const facts = { version: 3, status: 'failed', ended_at: new Date().toISOString() } as const;
  await results.deliver([frame(lost, 0), frame(torn, 0)]);
  await results.tell(snapshot(lost, 'subject-a', { ...facts, frames_published: 0 }));
  await results.tell(snapshot(torn, 'subject-a', { ...facts, frames_published: 1 }));
  await until(async () => (await named(torn)).length === 1);
  expect(await named(lost)).toEqual([]);
});

test('frames that are gone are reported; tasks in order are not', async () => {
  const [task, healthy] = [newTaskId(), newTaskId()];
  await results.deliver([frame(healthy, 0), frame(healthy, 1), mark(healthy, { frames_published: 2 })]);
  await results.deliver([frame(task, 0), frame(task, 1), mark(task, { frames_published: 2 })]);
  // Single rows can be removed; segments have tests of their own (audit-segments.test.ts).
  await turnIntoRows(results.database.db, task);
  await results.database.db('frames').where({ task_id: task, seq: 1 }).delete();
  await ended(healthy);
  await ended(task);
  await until(async () => (await named(task)).length === 1);
  expect(await named(task)).toMatchObject([{ details: { counted: 2, frames: 1, end_mark: true } }]);
  expect(await named(healthy)).toEqual([]);
});

test('frames that the end-of-stream marker counts and that never came are reported, although what is stored was counted rightly', async () => {
  const task = newTaskId();
  const attemptFrames = { count: 3, first_seq: 0, last_seq: 2 };
  await results.deliver([frame(task, 0), frame(task, 1), mark(task, { attempt_frames: attemptFrames })]);
  await ended(task);
  // It may be reported before the wait for the frames of the marker has expired.
  await until(async () => (await named(task))[0]?.details['end_mark'] === true);
  expect(await named(task)).toMatchObject([
    {
      details: {
        counted: 2,
        frames: 2,
        last_attempt: { count: 2, first: 0, last: 1 },
        marked: { count: 3, first: 0, last: 2 },
      },
    },
  ]);
  await results.deliver([frame(task, 2)]);
  await until(async () => (await named(task)).length === 0);
});

test('of a task with two attempts the end-of-stream marker is compared with the frames of its own attempt', async () => {
  const [whole, torn] = [newTaskId(), newTaskId()];
  for (const task of [whole, torn]) {
    const own = { count: 2, first_seq: 2, last_seq: 3 };
    const second = [2, 3].map((seq) => frame(task, seq, { attempt: 2 }));
    await results.deliver([frame(task, 0), frame(task, 1), ...second, mark(task, { attempt: 2, attempt_frames: own })]);
  }
  // The count of the task is right; the last frame of its last attempt is missing.
  await turnIntoRows(results.database.db, torn);
  await results.database.db('frames').where({ task_id: torn, seq: 3 }).update({ attempt: 1 });
  await ended(whole);
  await ended(torn);
  await until(async () => (await named(torn)).length === 1);
  expect(await named(torn)).toMatchObject([{ details: { frames: 4, last_attempt: { count: 1, first: 2, last: 2 } } }]);
  expect(await named(whole)).toEqual([]);
});

test('frames of an earlier attempt that were published and never came are reported, although no end-of-stream marker counts them', async () => {
  const [whole, torn] = [newTaskId(), newTaskId()];
  const own = { count: 2, first_seq: 2, last_seq: 3 };
  for (const task of [whole, torn]) {
    const first = task === whole ? [frame(task, 0), frame(task, 1)] : [];
    const second = [2, 3].map((seq) => frame(task, seq, { attempt: 2 }));
    await results.deliver([...first, ...second, mark(task, { attempt: 2, attempt_frames: own })]);
    const facts = { version: 3, status: 'stopped', ended_at: new Date().toISOString() } as const;
    await results.tell(snapshot(task, 'subject-a', { ...facts, frames_published: 4 }));
  }
  await until(async () => (await named(torn)).length === 1);
  expect(await named(torn)).toMatchObject([{ details: { published: 4, counted: 2, frames: 2 } }]);
  expect(await named(whole)).toEqual([]);
});

test('frames of a job whose task does not exist are reported until its end-of-stream marker comes', async () => {
  const [lost, known] = [newTaskId(), newTaskId()];
  results.tasks.answers.set('/internal/v1/known-tasks', { status: 200, body: { task_ids: [known] } });
  await results.deliver([frame(lost, 0), frame(known, 0)]);
  const both = results.database.db('ingests').whereIn('task_id', [lost, known]);
  await both.clone().update({ ask_at: new Date(0) });
  await until(async () => (await named(lost)).length === 1);
  expect(await named(lost)).toMatchObject([{ kind: 'frames_without_task', details: { task_id: lost } }]);
  expect(await named(known)).toEqual([]);
  // Neither is queried again at once.
  expect(await both.clone().whereRaw('ask_at < now()')).toEqual([]);
  await results.deliver([mark(lost, { frames_published: 1 })]);
  await until(async () => (await named(lost)).length === 0);
});

test('a task with alarm rules that was rolled back has no frames', async () => {
  const undone = newTaskId();
  // A rule adds the row before the first frame.
  await results.database.db('ingests').insert({ task_id: undone, rule_set: -1, ask_at: new Date(0) });
  const row = results.database.db('ingests').where({ task_id: undone });
  await until(async () => (await row.clone().whereRaw('ask_at > now()')).length === 1);
  const answer = await results.call('POST', '/internal/v1/audits/run');
  const { items } = (await answer.json()) as { items: Difference[] };
  expect(items.filter(({ id }) => id === undone)).toEqual([]);
});

test('frames of a task that is lost are reported at once, however seldom their job would be asked about', async () => {
  const task = newTaskId();
  await results.deliver([frame(task, 0)]);
  await results.database
    .db('ingests')
    .where({ task_id: task })
    .update({ ask_at: new Date(Date.now() + 3_600_000) });
  const answer = await results.call('POST', '/internal/v1/audits/run');
  const { items } = (await answer.json()) as { items: Difference[] };
  expect(items.filter(({ id }) => id === task)).toMatchObject([{ kind: 'frames_without_task' }]);
});
