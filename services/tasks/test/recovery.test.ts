import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { insertDead } from './support/dead-create.ts';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

const UPLOADS = 5;
let world: World;
let tasks: TestTasks | undefined;
/** Requests for the removal of a video, which the object store does not answer. */
const held = new Set<ServerResponse>();
const store = createServer((req, res) => {
  if (!req.url?.includes('vision-owner')) return void res.writeHead(200).end();
  held.add(res);
  res.once('close', () => held.delete(res));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  world = await createWorld({ LEASE_MS: '1200' });
});
afterAll(async () => {
  store.close();
  store.closeAllConnections();
  await tasks?.stop();
  await world.close();
});

test('rollbacks of uploads that wait for the object store delay no other rollback', async () => {
  const [uploading, streaming] = [randomUUID(), randomUUID()];
  for (let index = 0; index < UPLOADS; index += 1) await insertDead(world, uploading, 'upload', index);
  await insertDead(world, streaming, 'stream', UPLOADS);
  const { port } = store.address() as AddressInfo;
  tasks = await startTasks(world, { S3_ENDPOINT: `http://127.0.0.1:${port}` });
  await until(async () => held.size > 0 && (await storedTasks(world, { subject: streaming })).length === 0);
  expect(await storedTasks(world, { subject: uploading })).toHaveLength(UPLOADS);
});
