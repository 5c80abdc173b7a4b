import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { lockLog } from '../src/db/event-log.ts';
import { markDeleted } from '../src/db/task-states.ts';
import { createSignals } from '../src/signals.ts';
import { logTask } from '../src/use-cases/log/log-task.ts';
import { logger, startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';

let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify();
});
afterAll(() => notify.stop());

/** Three events of a new subject: the first and the last of the task to delete, one of another task between them. */
async function logged() {
  const subject = `subject-${randomUUID()}`;
  const [deleted, other] = [task({ subject }), task({ subject })];
  const stopped = task({ ...deleted, version: 2, status: 'stopped' });
  for (const one of [deleted, other, stopped]) await notify.tell(one);
  return { subject, deleted, stopped, other };
}
const eventsOf = async (query: string, subject: string) =>
  (await notify.page(query, subject)).items.map(({ type }) => type);
const states = (taskId: string) => notify.database.db('task_states').where({ task_id: taskId });

test('removes the events of a deleted task, and leaves those of other tasks and every cursor', async () => {
  const { subject, deleted, other } = await logged();
  const { next_cursor: next, resume_cursor: resume } = await notify.page('?limit=1', subject);
  const { resume_cursor: last } = await notify.page('', subject);
  await notify.tellDeleted(deleted);
  expect(await eventsOf('', subject)).toEqual(['task.running']);
  expect(await eventsOf('?order=newest', subject)).toEqual(['task.running']);
  expect(await eventsOf('?types=task.stopped', subject)).toEqual([]);
  for (const cursor of [next, resume]) expect(await eventsOf(`?cursor=${cursor}`, subject)).toEqual(['task.running']);
  await notify.tell(task({ ...other, version: 2, status: 'failed' }));
  expect(await eventsOf(`?cursor=${resume}`, subject)).toEqual(['task.running', 'task.failed']);
  // The event before the position of this reader was removed and not lost.
  expect(await eventsOf(`?cursor=${last}`, subject)).toEqual(['task.failed']);
});

test('a state that is logged while its task is being deleted waits, and is not logged', async () => {
  const { subject, deleted } = await logged();
  const { db } = notify.database;
  const deletion = await db.transaction();
  await lockLog(deletion, subject);
  const deps = { settings: { eventDays: 30, retentionBatch: 10 }, signals: createSignals(logger) };
  const logging = logTask({ ...deps, wakeWebhooks: () => undefined }, task({ ...deleted, version: 3 }), (work) =>
    db.transaction(work),
  );
  await until(async () => {
    const { rows } = await db.raw<{ rows: object[] }>(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows.length > 0;
  });
  await markDeleted(deletion, { task_id: deleted.task_id, subject, deleted_at: new Date().toISOString() });
  await deletion.commit();
  await logging;
  expect(await states(deleted.task_id)).toMatchObject([{ status: 'deleted' }]);
});

test('a stream that resumes by an old cursor skips the deleted task, and one that is open goes on', async () => {
  const { subject, deleted, other } = await logged();
  const { resume_cursor: cursor } = await notify.page('?limit=1', subject);
  const open = await notify.open('', {}, subject);
  await until(() => Promise.resolve(open.ids.length === 1));
  await notify.tellDeleted(deleted);
  const resumed = await notify.open(`?cursor=${cursor}`, {}, subject);
  await notify.tell(task({ ...other, version: 2, status: 'succeeded' }));
  await until(() => Promise.resolve(open.events.length === 1 && resumed.events.length === 2));
  expect(open.events.map(({ type }) => type)).toEqual(['task.succeeded']);
  expect(resumed.events.map(({ type }) => type)).toEqual(['task.running', 'task.succeeded']);
  open.close();
  resumed.close();
});

test('logs no state of a task after its deletion, with any version', async () => {
  const { subject, deleted, stopped } = await logged();
  await notify.tellDeleted(deleted, deleted);
  await notify.tell(deleted, stopped, task({ ...deleted, version: 1_000_000, status: 'failed' }));
  expect(await eventsOf('', subject)).toEqual(['task.running']);
});

test('logs nothing of a task whose deletion arrives before any of its states', async () => {
  const subject = `subject-${randomUUID()}`;
  const late = task({ subject, version: 3, status: 'stopped' });
  await notify.tellDeleted(late);
  await notify.tell(late);
  expect(await eventsOf('', subject)).toEqual([]);
  expect(await states(late.task_id)).toMatchObject([{ deleted_at: expect.any(Date) }]);
});

test('retention removes the marks of deleted tasks with other old states', async () => {
  const subject = `subject-${randomUUID()}`;
  const [unknown, known, recent] = [task({ subject }), task({ subject }), task({ subject })];
  await notify.tell(known);
  await notify.tellDeleted(unknown, known, recent);
  const old = new Date(Date.now() - 31 * 86_400_000);
  for (const { task_id: id } of [unknown, known]) await states(id).update({ updated_at: old });
  const answer = await notify.call('POST', '/internal/v1/retention/run');
  expect(await answer.json()).toMatchObject({ tasks: 2 });
  expect(await states(recent.task_id)).toHaveLength(1);
});
