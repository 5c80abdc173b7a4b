import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { detected } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { createWorld, startReplica } from './support/start-images.ts';
import type { World } from './support/start-images.ts';

// The second replica takes no call over for one lease; by then the first must notice that the database is back.
const env = {
  LEASE_MS: '20000',
  RECOVERY_INTERVAL_MS: '100',
  DETECT_TIMEOUT_MS: '170000',
  CALL_TIMEOUT_MS: '175000',
};

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

test('an image call survives a database outage that is longer than its lease', async () => {
  const { hostname, port } = new URL(world.database.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port || 5432) });
  const url = new URL(world.database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const gate = Promise.withResolvers<void>();
  const key = randomUUID();
  const isLeaseOver = async () =>
    (await world.database.db('idempotency_keys').where({ key }).whereRaw('lease_until <= now()')).length === 1;
  const holder = await startReplica(world, { ...env, DATABASE_URL: url.href });
  // The first call of a process reads the prefix of its images from the database.
  expect((await holder.detect(files(picture('before')))).status).toBe(201);
  world.inference.answer = () => gate.promise.then(() => detected());
  const call = holder.detect(files(picture('through')), { key });
  // Detection may begin before the key is claimed; once units are reserved, the database is not queried any more.
  await until(() => world.inference.seen.includes('through') && world.quota.used() === 2);
  proxy.set({ kind: 'reset' });
  await until(isLeaseOver);
  // A new replica that has not seen the outage comes first: it polls for dead calls at once, and gets a repeat of the
  // call.
  const other = await startReplica(world, env);
  const repeat = other.detect(files(picture('through')), { key });
  try {
    proxy.set({ kind: 'none' });
    await until(async () => !(await isLeaseOver()));
    gate.resolve();
    const [first, second] = await Promise.all([call, repeat]);
    expect(first.status).toBe(201);
    expect(second).toEqual({ status: 200, body: { ...first.body, replayed: true } });
    expect(world.quota.used()).toBe(2);
  } finally {
    await other.stop();
    await holder.stop();
    await proxy.close();
  }
});
