import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { World } from './support/system.ts';
import { formOf, mp4, upload } from './support/videos.ts';

let world: World;
beforeAll(async () => {
  // The second replica takes no lease over for one lease; by then the first must notice that the database is back.
  world = await createWorld({ LEASE_MS: '15000' });
});
afterAll(async () => {
  await world.close();
});

/** A replica that connects to the database through a proxy. */
async function startBehindProxy() {
  const { hostname, port } = new URL(world.database.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port || 5432) });
  const url = new URL(world.database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, tasks: await startTasks(world, { DATABASE_URL: url.href }) };
}

/** An upload whose last byte is sent by `finish`. */
function slowUpload(port: number, subject: string) {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const form = formOf([
    { name: 'scene_code', value: 'ship' },
    { name: 'file', file: mp4(100_000) },
  ]);
  async function* body() {
    yield form.subarray(0, -1);
    await finished;
    yield form.subarray(-1);
  }
  return { answer: upload({ port, subject, key: randomUUID(), rawBody: body() }), finish };
}

const isLeaseOver = async (subject: string) =>
  (await world.database.db('tasks').where({ subject }).whereRaw('lease_until <= now()')).length === 1;

test('an upload survives a database outage that is longer than its lease', async () => {
  const subject = randomUUID();
  const { proxy, tasks: holder } = await startBehindProxy();
  const sending = slowUpload(holder.port, subject);
  await until(async () => (await storedTasks(world, { subject })).length === 1);
  proxy.set({ kind: 'reset' });
  await until(() => isLeaseOver(subject));
  // A new replica that has not seen the outage comes first, and polls for dead create requests at once.
  const other = await startTasks(world);
  try {
    proxy.set({ kind: 'none' });
    await until(async () => !(await isLeaseOver(subject)));
    sending.finish();
    expect((await sending.answer).status).toBe(201);
    expect(await world.quota.used(subject)).toBe(1);
  } finally {
    await other.stop();
    await holder.stop();
    await proxy.close();
  }
});

test('a create request of the only disconnected process is rolled back when its lease has expired', async () => {
  const subject = randomUUID();
  const other = await startTasks(world);
  const { proxy, tasks: holder } = await startBehindProxy();
  const sending = slowUpload(holder.port, subject);
  try {
    await until(async () => (await storedTasks(world, { subject })).length === 1);
    proxy.set({ kind: 'reset' });
    await until(async () => (await storedTasks(world, { subject })).length === 0);
    proxy.set({ kind: 'none' });
    sending.finish();
    expect((await sending.answer).status).toBe(503);
    expect(await world.quota.used(subject)).toBe(0);
  } finally {
    await other.stop();
    await holder.stop();
    await proxy.close();
  }
});
