import { expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { testRedis } from '@vision/shared/testing/redis';
import { until } from '@vision/shared/testing/until';
import { createRedisGuard } from '../src/clients/redis.ts';
import { createSignals } from '../src/signals.ts';

test('a Redis that vanished without a reset is connected to again', async () => {
  const redis = await testRedis();
  const { hostname: host, port } = new URL(redis.url);
  const proxy = await startFaultProxy({ host, port: Number(port) });
  const url = Object.assign(new URL(redis.url), { port: String(proxy.port) }).href;
  const signals = createSignals(createLogger('test', 'silent'));
  const guard = createRedisGuard({ connection: { url }, timeoutMs: 1_000, cooldownMs: 0, signals });
  guard.start();
  const count = () => guard.attempt('count', (client) => client.incr('things'));
  await until(count);
  proxy.set({ kind: 'dead' });
  proxy.set({ kind: 'none' });
  expect(await count()).toBeUndefined();
  await until(count);
  guard.stop();
  await Promise.all([proxy.close(), redis.close()]);
});
