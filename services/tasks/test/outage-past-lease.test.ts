import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { World } from './support/system.ts';
import { formOf, mp4, upload } from './support/videos.ts';

let world: World;
beforeAll(async () => {
  // The second replica has one lease to wait; in it the first one has to notice that the database is back.
  world = await createWorld({ LEASE_MS: '15000' });
});
afterAll(async () => {
  await world.close();
});

/** A replica whose connections to the database go through a proxy. */
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

test('an upload outlives an outage of the database that is longer than its lease', async () => {
  const subject = randomUUID();
  const { proxy, tasks: holder } = await startBehindProxy();
  const sending = slowUpload(holder.port, subject);
  await until(async () => (await storedTasks(world, { subject })).length === 1);
  proxy.set({ kind: 'reset' });
  await until(() => isLeaseOver(subject));
  // The first to be back is a replica that knows nothing of the outage, and looks for dead creates at once.
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

test('a create request whose process is cut off alone is rolled back when its lease has expired, for the others go on', async () => {
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
