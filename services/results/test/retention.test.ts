import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { frame, newTaskId, snapshot, startResults, storedFrames } from './support.ts';
import type { TestResults } from './support.ts';

const DAY_MS = 86_400_000;
// The clock of the service is 91 days ahead of its data, so a task of today has just expired.
let later: TestResults;
beforeAll(async () => {
  later = await startResults({ CLOCK_OFFSET: '91 days' });
  await later.service.consumers.tasks.joined;
});
afterAll(() => later.stop());

const db = () => later.database.db;
const partitions = async (): Promise<string[]> => {
  const { rows } = await db().raw<{ rows: { name: string }[] }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'frames'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
};
const nameOf = (time: number) => `frames_${new Date(time).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Creates partitions as another replica would have created them earlier. */
async function makePartition(time: number): Promise<void> {
  await db().raw(
    `create table if not exists ?? partition of frames for values in ('${new Date(time).toISOString().slice(0, 10)}')`,
    [nameOf(time)],
  );
}

test('what has expired is hidden at once and removed by the next run; what has not stays', async () => {
  const now = Date.now();
  const [expired, kept] = [newTaskId(), snapshot(newTaskId(), 'subject-a')];
  await makePartition(now);
  await makePartition(now + DAY_MS);
  await later.tell(snapshot(expired, 'subject-a', { result_expires_at: new Date(now - 2 * DAY_MS).toISOString() }));
  await later.tell({ ...kept, result_expires_at: new Date(now + 92 * DAY_MS).toISOString() });
  await db()('ingests').insert([{ task_id: expired }, { task_id: '0fffffff-ffff-7000-8000-000000000000' }]);
  expect((await later.get(`/v1/vision/tasks/${expired}/results`)).status).toBe(404);

  // The service also runs it, so the number of results of this run is undetermined.
  expect((await later.call('POST', '/internal/v1/retention/run')).status).toBe(200);
  expect(await db()('task_views').select('task_id')).toEqual([{ task_id: kept.task_id }]);
  expect(await db()('ingests').select('task_id')).toEqual([{ task_id: '0fffffff-ffff-7000-8000-000000000000' }]);
  expect((await later.get(`/v1/vision/tasks/${kept.task_id}/results`)).status).toBe(200);
  // Partitions of today and of the next two days exist before a frame needs them.
  const ahead = [91, 92, 93].map((days) => nameOf(now + days * DAY_MS));
  expect(await partitions()).toEqual([nameOf(now + DAY_MS), ...ahead]);
  expect(await (await later.call('POST', '/internal/v1/retention/run')).json()).toEqual({
    partitions: 0,
    tasks: 0,
    images: 0,
  });
});

test('a partition in use is left for the next run', async () => {
  const old = Date.now() - 5 * DAY_MS;
  await makePartition(old);
  const reader = await db().transaction();
  try {
    // The attempts to drop it take longer than a transaction may idle.
    await reader.raw('set local idle_in_transaction_session_timeout = 0');
    await reader.raw('select * from frames limit 1');
    expect(await (await later.call('POST', '/internal/v1/retention/run')).json()).toMatchObject({ partitions: 0 });
    expect(await partitions()).toContain(nameOf(old));
  } finally {
    await reader.rollback();
  }
  expect(await (await later.call('POST', '/internal/v1/retention/run')).json()).toMatchObject({ partitions: 1 });
});

test('frames that arrive after their task expired are passed over', async () => {
  const task = newTaskId();
  await later.deliver([frame(task, 0)]);
  expect(await storedFrames(db(), task)).toEqual([]);
});
