import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

const metrics = testMetrics();
let world: World;
let tasks: TestTasks;
/** A stream that answers on command of the test. */
const held: ServerResponse[] = [];
const slow = createServer((_req, res) => void held.push(res));
let slowUrl: string;
beforeAll(async () => {
  world = await createWorld();
  tasks = await startTasks(world, { LEASE_MS: '20000' });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/live.m3u8`;
});
afterAll(async () => {
  slow.close();
  slow.closeAllConnections();
  await tasks.stop();
  await world.close();
});

const refundsAsked = async () =>
  (await metrics.sumOf('vision.upstream.duration', {
    upstream: 'quota',
    operation: 'POST /internal/v1/reservations/{reservation_id}/refund',
  })) ?? 0;

test('a burst of create requests with a used-up quota does not multiply requests to quota', async () => {
  const subject = randomUUID();
  const limits = { video_tasks_per_day: 1, active_tasks: 1000 };
  const late = Array.from({ length: 40 }, () => tasks.create({ subject, limits, url: slowUrl }));
  await until(() => held.length === 40);
  expect((await tasks.create({ subject, limits })).status).toBe(201);
  for (const res of held) res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end('#EXTM3U\n');
  const burst = Array.from({ length: 80 }, () => tasks.create({ subject, limits }));
  const codes = (await Promise.all([...late, ...burst])).map(({ body }) => body.code);
  expect(codes).toEqual(codes.map(() => 'OP-QUOTA-DAILY-EXHAUSTED'));
  // Each of the 40 units is refunded once by its request, and a few times more by refunds of dead create requests.
  expect(await refundsAsked()).toBeLessThanOrEqual(160);
});
