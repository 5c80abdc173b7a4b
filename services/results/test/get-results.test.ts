import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  formsOf,
  frame,
  imageCall,
  internalTask,
  mark,
  newTaskId,
  object,
  snapshot,
  startResults,
  taskIdAt,
} from './support.ts';
import type { TestResults } from './support.ts';
import { forms, framePages } from './frame-pages.ts';

describe.each(forms)('frames in $form:', ({ form, settings }) => {
  let results: TestResults;
  beforeAll(async () => {
    results = await startResults(settings);
    await Promise.all([results.service.consumers.frames.joined, results.service.consumers.tasks.joined]);
  });
  afterAll(() => results.stop());

  const { deliver, pathOf, page, seqs, newTask } = framePages(form, () => results);

  test('a service that does not forward for callers gets no results in their name', async () => {
    const taskId = newTaskId();
    const refused = await results.call('GET', `/v1/vision/tasks/${taskId}/results`, 'subject-a', 'tasks');
    expect([refused.status, await refused.json()]).toMatchObject([403, { details: { reason: 'call_not_allowed' } }]);
  });

  const ended = (version: number) => ({ version, status: 'succeeded' as const, ended_at: new Date().toISOString() });
  const refusal = async (answer: Response) => {
    const body = (await answer.json()) as { code?: string; details: { reason: string; field?: string } };
    return { status: answer.status, code: body.code, reason: body.details.reason, field: body.details.field };
  };

  test('a page shows every stored frame with the objects at the frozen threshold, highest first', async () => {
    const taskId = await newTask(2);
    const { items } = await page(taskId);
    expect(items[1]).toEqual({
      frame_id: `${taskId}-1`,
      frame_time_ms: 200,
      image: { width: 1280, height: 720 },
      objects: [object(0.9, 'car'), object(0.85)],
    });
    expect(items).toHaveLength(2);
  });

  test.each([
    [0.9, [0.9]],
    [0.95, []],
    [0.5, [0.9, 0.85, 0.5]],
    [0, [0.9, 0.85, 0.5]],
  ])('with min_score %p the objects are %j and their number before the filter is shown', async (score, expected) => {
    const taskId = await newTask(1);
    const { items } = await page(taskId, { min_score: score });
    expect(items[0]?.objects.map((one) => one.score)).toEqual(expected);
    expect(items[0]?.objects_total).toBe(3);
  });

  test('pages follow each other without a gap, and the last one has no next', async () => {
    const taskId = await newTask(7);
    const first = await page(taskId, { limit: 3 });
    const second = await page(taskId, { limit: 3, cursor: first.next_cursor, min_score: 0.1 });
    const third = await page(taskId, { limit: 3, cursor: second.next_cursor });
    expect([seqs(first), seqs(second), seqs(third)]).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
    expect(third.next_cursor).toBe('');
    expect(third.resume_cursor).not.toBe('');
  });

  test('a page that is exactly full says that there is no more', async () => {
    const taskId = await newTask(3);
    expect((await page(taskId, { limit: 3 })).next_cursor).toBe('');
  });

  test('without limit a page has 100 frames, and 500 at most', async () => {
    const taskId = await newTask(501);
    expect((await page(taskId)).items).toHaveLength(100);
    const most = await page(taskId, { limit: 500 });
    expect(most.items).toHaveLength(500);
    expect(seqs(await page(taskId, { cursor: most.next_cursor }))).toEqual([500]);
  });

  test('a reader that follows a running task with resume_cursor sees every frame once, also those stored late', async () => {
    const taskId = await newTask(0);
    const seen: number[] = [];
    let cursor = '';
    const read = async () => {
      for (;;) {
        const one = await page(taskId, { cursor, limit: 3 });
        seen.push(...seqs(one));
        cursor = one.resume_cursor;
        if (one.next_cursor === '') return cursor;
      }
    };
    expect(await read()).not.toBe('');
    await deliver([frame(taskId, 0), frame(taskId, 1), frame(taskId, 5)]);
    await read();
    await deliver([frame(taskId, 2), frame(taskId, 3), frame(taskId, 4), frame(taskId, 1)]);
    await read();
    await deliver([frame(taskId, 9), frame(taskId, 10)]);
    await deliver([frame(taskId, 6), frame(taskId, 7), frame(taskId, 8), frame(taskId, 11)]);
    await read();
    await deliver([frame(taskId, 12), mark(taskId)]);
    await results.tell(snapshot(taskId, 'subject-a', ended(2)));
    expect(await read()).toBe('');
    expect(seen.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test('a reader gets frames that are stored late', async () => {
    const { db } = results.database;
    const taskId = await newTask(0);
    await deliver([frame(taskId, 0), frame(taskId, 5)]);
    const { resume_cursor: cursor } = await page(taskId);
    await deliver([frame(taskId, 3), frame(taskId, 2)]);
    await deliver([frame(taskId, 6), frame(taskId, 4)]);
    expect((await db('late_frames').where({ task_id: taskId }).pluck<number[]>('seq')).sort()).toEqual([2, 3, 4]);
    const next = await page(taskId, { cursor });
    expect(seqs(next)).toEqual([2, 3, 4, 6]);
    expect(seqs(await page(taskId, { cursor: next.resume_cursor }))).toEqual([]);
  });

  test('resume_cursor is empty only when the task has ended, the end-of-stream marker is applied and everything was delivered', async () => {
    const taskId = await newTask(4);
    await results.tell(snapshot(taskId, 'subject-a', ended(2)));
    expect((await page(taskId)).resume_cursor).not.toBe('');
    await deliver([mark(taskId)]);
    const first = await page(taskId, { limit: 3 });
    expect(first.resume_cursor).not.toBe('');
    expect(await page(taskId, { cursor: first.resume_cursor })).toMatchObject({ next_cursor: '', resume_cursor: '' });
  });

  test('a task that goes on under another attempt after an end-of-stream marker never has an empty resume_cursor before its end', async () => {
    const taskId = await newTask(2);
    await deliver([mark(taskId)]);
    expect((await page(taskId)).resume_cursor).not.toBe('');
    await deliver([frame(taskId, 2, { attempt: 2 })]);
    const { resume_cursor: cursor } = await page(taskId);
    await deliver([mark(taskId, { attempt: 2 })]);
    expect((await page(taskId, { cursor })).resume_cursor).not.toBe('');
    await results.tell(snapshot(taskId, 'subject-a', ended(2)));
    expect((await page(taskId, { cursor })).resume_cursor).toBe('');
  });

  test('an end-of-stream marker whose frames are not all there leaves resume_cursor open until they are', async () => {
    const taskId = await newTask(2);
    await results.tell(snapshot(taskId, 'subject-a', ended(2)));
    await deliver([mark(taskId, { attempt_frames: { count: 3, first_seq: 0, last_seq: 2 } })]);
    const { resume_cursor: cursor } = await page(taskId);
    expect(cursor).not.toBe('');
    await deliver([frame(taskId, 2)]);
    expect(await page(taskId, { cursor })).toMatchObject({ items: [{}], resume_cursor: '' });
  });

  test('fifteen minutes after the end of a task an end-of-stream marker is no longer awaited', async () => {
    const endedBefore = (minutes: number) => ({
      status: 'failed' as const,
      ended_at: new Date(Date.now() - minutes * 60_000).toISOString(),
    });
    expect((await page(await newTask(1, endedBefore(16)))).resume_cursor).toBe('');
    expect((await page(await newTask(1, endedBefore(14)))).resume_cursor).not.toBe('');
  });

  test('a task without frames has an empty page', async () => {
    expect(await page(await newTask(0))).toMatchObject({ items: [], next_cursor: '' });
  });

  test.each([
    ['limit', '0'],
    ['limit', '501'],
    ['limit', 'abc'],
    ['min_score', '-0.1'],
    ['min_score', '1.1'],
    ['min_score', 'NaN'],
  ])('%s=%s is refused', async (field, value) => {
    const answer = await results.get(pathOf(await newTask(0), { [field]: value }));
    expect(await refusal(answer)).toMatchObject({ status: 400, code: 'OP-TASK-REQUEST-INVALID', field });
  });

  test('a cursor of another task, a forged one and garbage are refused', async () => {
    const [mine, other] = [await newTask(2), await newTask(2)];
    const { next_cursor: cursor } = await page(other, { limit: 1 });
    const forged = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1);
    for (const wrong of [cursor, 'garbage', forged, '\u0000', 'x'.repeat(5_000)]) {
      expect(await refusal(await results.get(pathOf(mine, { cursor: wrong })))).toEqual({
        status: 400,
        code: 'OP-TASK-REQUEST-INVALID',
        reason: 'cursor_invalid',
        field: 'cursor',
      });
    }
  });

  test('a task of another subject and an unknown one cause the same requests and get the same answer', async () => {
    const foreign = await newTask(1);
    const answers = [];
    const asked = [];
    for (const id of [foreign, newTaskId()]) {
      const answer = await results.get(pathOf(id, { cursor: 'garbage' }), 'subject-b');
      const { instance: _instance, trace_id: _trace, ...body } = (await answer.json()) as Record<string, unknown>;
      answers.push({ status: answer.status, body });
      // Audits of the service also query, for other tasks.
      const of = (paths: string[]) => paths.filter((path) => path.includes(id)).length;
      asked.push({ tasks: of(results.tasks.asked), images: of(results.images.asked) });
    }
    expect(answers[0]).toMatchObject({ status: 404 });
    expect(answers[1]).toEqual(answers[0]);
    expect(asked).toEqual([
      { tasks: 1, images: 1 },
      { tasks: 1, images: 1 },
    ]);
  });

  test.each(['x', randomUUID().slice(1), '%00', "1' or '1'='1"])('the id %j is not found', async (id) => {
    expect((await results.get(pathOf(encodeURIComponent(id)))).status).toBe(404);
  });

  test('a task whose event has not arrived is queried, once', async () => {
    const taskId = newTaskId();
    await deliver([frame(taskId, 0)]);
    results.tasks.answers.set(`/internal/v1/tasks/${taskId}`, {
      status: 200,
      body: internalTask(snapshot(taskId, 'subject-a')),
    });
    expect(seqs(await page(taskId))).toEqual([0]);
    results.tasks.answers.clear();
    expect(seqs(await page(taskId))).toEqual([0]);
  });

  test('an image task has no frames', async () => {
    const taskId = newTaskId();
    const path = `/internal/v1/image-calls/${taskId}`;
    results.images.answers.set(path, { status: 200, body: imageCall(taskId, 'subject-a') });
    expect(await refusal(await results.get(pathOf(taskId)))).toMatchObject({ status: 400, reason: 'not_a_video_task' });
  });

  test('while tasks is unavailable an unknown task returns 503, not 404', async () => {
    const taskId = newTaskId();
    results.tasks.answers.set(`/internal/v1/tasks/${taskId}`, { status: 500, body: {} });
    expect(await refusal(await results.get(pathOf(taskId)))).toMatchObject({ status: 503, code: 'OP-SYS-UNAVAILABLE' });
  });

  test('the newest version of a task counts, with any order of arrival', async () => {
    const taskId = await newTask(1, { version: 5, default_min_score: 0.9 });
    await results.tell(snapshot(taskId, 'subject-a', { version: 4, default_min_score: 0.1 }));
    expect((await page(taskId)).items[0]?.objects).toHaveLength(1);
  });

  test('results are hidden the moment they expire', async () => {
    const taskId = taskIdAt(Date.now() - 90 * 86_400_000);
    await results.tell(
      snapshot(taskId, 'subject-a', { result_expires_at: new Date(Date.now() + 3_600_000).toISOString() }),
    );
    await deliver([frame(taskId, 0)]);
    expect(seqs(await page(taskId))).toEqual([0]);
    await results.tell(
      snapshot(taskId, 'subject-a', { version: 2, result_expires_at: new Date(Date.now() - 1).toISOString() }),
    );
    expect((await results.get(pathOf(taskId))).status).toBe(404);
  });

  test('other services read how many frames of a task are readable', async () => {
    const taskId = await newTask(3);
    const stored = async (id: string) =>
      (await results.call('GET', `/internal/v1/tasks/${id}/stored-frames`, 'subject-a', 'tasks')).json();
    expect(await stored(taskId)).toEqual({ frames_stored: 3 });
    await deliver([mark(taskId, { attempt: 4 })]);
    expect(await stored(taskId)).toEqual({ frames_stored: 3, completed_attempt: 4 });
    expect(await stored(newTaskId())).toEqual({ frames_stored: 0 });
  });

  test('they read it for many tasks in one request, at most a hundred', async () => {
    const [some, none] = [await newTask(2), newTaskId()];
    const answer = await results.ask('/internal/v1/stored-frames', { task_ids: [some, none] });
    expect(await answer.json()).toEqual({ items: [{ task_id: some, frames_stored: 2 }] });
    await deliver([mark(some, { attempt: 4 })]);
    const completed = await results.ask('/internal/v1/stored-frames', { task_ids: [some] });
    expect(await completed.json()).toEqual({ items: [{ task_id: some, frames_stored: 2, completed_attempt: 4 }] });
    const tooMany = Array.from({ length: 101 }, newTaskId);
    expect((await results.ask('/internal/v1/stored-frames', { task_ids: tooMany })).status).toBe(400);
  });

  test('frames are stored in the form under test', async () => {
    const taskId = await newTask(3);
    await deliver([frame(taskId, 1), frame(taskId, 7), frame(taskId, 5)]);
    const { hot, cold } = await formsOf(results.database.db, taskId);
    expect([hot, cold].map((count) => count > 0)).toEqual(forms.map((one) => one.form === form));
  });
});
