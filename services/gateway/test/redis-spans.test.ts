import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { testRedis } from '@vision/shared/testing/redis';
import { until } from '@vision/shared/testing/until';
import { createRedisGuard } from '../src/clients/redis.ts';
import { createSignals } from '../src/signals.ts';

const recorded = recordSpans();
afterAll(() => recorded.stop());
beforeEach(() => recorded.clear());

test('a Redis that does not answer and one that is unavailable have words of their own', async () => {
  const redis = await testRedis();
  const { hostname: host, port } = new URL(redis.url);
  const proxy = await startFaultProxy({ host, port: Number(port) });
  const url = Object.assign(new URL(redis.url), { port: String(proxy.port) }).href;
  const signals = createSignals(createLogger('test', 'silent'));
  const guard = createRedisGuard({ connection: { url }, timeoutMs: 200, cooldownMs: 0, signals });
  guard.start();
  const ask = () => recorded.inRequest(() => guard.attempt('count', (client) => client.incr('things')));
  const word = () => recorded.spans().findLast(({ name }) => name === 'redis count')?.attributes;
  await until(ask);
  expect(word()).toMatchObject({ 'app.call.outcome': 'ok' });
  proxy.set({ kind: 'deaf' });
  expect(await ask()).toBeUndefined();
  expect(word()).toMatchObject({ 'error.type': 'total_timeout', 'app.timeout.limit_ms': 200 });
  proxy.set({ kind: 'refuse' });
  await until(async () => (await ask()) === undefined && word()?.['error.type'] === 'connection_lost');
  guard.stop();
  await Promise.all([proxy.close(), redis.close()]);
});
