import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWorld, startTasks } from './support/system.ts';
import type { Answer, TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks;
beforeAll(async () => {
  world = await createWorld({ AUDIT_INTERVAL_MS: '3600000', AUDIT_AGE_MS: '3600000' });
  tasks = await startTasks(world);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});

const itemsOf = (answer: Answer) => answer.body['items'] as { job: { job_id: string }; task?: { status: string } }[];

/** A task that runs at the backend, and whose row is lost, as in a restore of an older copy. */
async function lose(): Promise<string> {
  const { task_id: id } = (await tasks.create({ subject: randomUUID() })).body;
  await world.database.db('idempotency_keys').where({ task_id: id }).delete();
  await world.database.db('tasks').where({ task_id: id }).delete();
  return id;
}

test('lists jobs of the backend, including jobs of lost tasks', async () => {
  const { task_id: known } = (await tasks.create({ subject: 'acme' })).body;
  const lost = await lose();
  const list = (query = '') => tasks.asOperator('GET', `/internal/v1/backend-jobs${query}`);
  const jobs = new Map(itemsOf(await list()).map(({ job, task }) => [job.job_id, task]));
  expect(jobs.get(known)).toMatchObject({ subject: 'acme', status: 'running' });
  expect(jobs.has(lost)).toBe(true);
  expect(jobs.get(lost)).toBeUndefined();
  const first = await list('?limit=1');
  expect(itemsOf(first)).toHaveLength(1);
  const rest = await list(`?limit=100&after=${String(first.body['next_cursor'])}`);
  expect(itemsOf(rest)).toHaveLength(jobs.size - 1);
});

test('stops the job of a lost task, but not of a running task', async () => {
  const { task_id: known } = (await tasks.create({ subject: randomUUID() })).body;
  const lost = await lose();
  const stop = (id: string) => tasks.asOperator('POST', `/internal/v1/backend-jobs/${id}/stop`, { who: 'zoe@ops' });
  const refused = await stop(known);
  expect([refused.status, refused.body.details?.['reason']]).toEqual([409, 'task_runs']);
  expect(await stop(lost)).toMatchObject({ status: 200, body: { job_id: lost, status: 'stopped' } });
  expect(world.backend.jobs.get(lost)?.status).toBe('stopped');
  expect(world.backend.jobs.get(known)?.status).toBe('running');
});

test('finds a reservation of a lost task at once, independent of its audit interval', async () => {
  const lost = await lose();
  const ledger = world.quota.database.db;
  const mine = ledger('reservations').where({ id: `${lost}/1` });
  await mine.clone().update({ ask_at: new Date(Date.now() + 3_600_000) });
  const found = async () => {
    const answer = await tasks.asOperator('POST', '/internal/v1/audits/run');
    return (answer.body['items'] as { kind: string; id: string }[]).filter(({ id }) => id === `${lost}/1`);
  };
  expect(await found()).toEqual([]);
  await mine.clone().update({ ask_at: new Date() });
  expect(await found()).toMatchObject([{ kind: 'open_reservation' }]);
});

test('a scan reports every video of a task that is missing in the bucket', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await tasks.create({ subject: randomUUID() })).body.task_id);
  const keys = await Promise.all(ids.map((id) => world.videoOf(id)));
  // One of the videos was stored by release 0.2.
  keys[4] = `videos/${ids[4] ?? ''}`;
  for (const [index, id] of ids.entries())
    await world.database.db('tasks').where({ task_id: id }).update({ kind: 'upload', object_key: keys[index] });
  for (const key of [keys[0], keys[2], keys[3]])
    await world.s3.client.putObject(world.s3.bucket, key ?? '', Buffer.from('x'));
  const missing: { object_key: string }[] = [];
  let [after, pages] = ['', 0];
  do {
    const { body } = await tasks.asOperator('POST', '/internal/v1/objects/scan', { after, limit: 2 });
    missing.push(...(body['missing'] as { object_key: string }[]));
    after = String(body['next_cursor']);
    pages += 1;
  } while (after !== '');
  expect(pages).toBeGreaterThan(2);
  expect(missing).toEqual([
    { task_id: ids[1], object_key: keys[1] },
    { task_id: ids[4], object_key: keys[4] },
  ]);
});
