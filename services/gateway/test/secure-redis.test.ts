import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createLogger } from '@vision/shared/logger';
import { until } from '@vision/shared/testing/until';
import { ODD_PASSWORD, startSecureRedis } from '../../../packages/shared/test/support/secure-stores.ts';
import type { SecureStore } from '../../../packages/shared/test/support/secure-stores.ts';
import { createRedisGuard } from '../src/clients/redis.ts';
import { redisConfig, redisConnection } from '../src/redis-config.ts';
import { createSignals } from '../src/signals.ts';

let server: SecureStore;

beforeAll(async () => {
  server = await startSecureRedis();
  await until(async () => (await guardOf({}).check.ask()) === undefined, { intervalMs: 100 });
});

afterAll(() => server.stop());

function guardOf(changed: Record<string, string | undefined>) {
  const values: Record<string, string | undefined> = {
    REDIS_URL: `rediss://vision@127.0.0.1:${server.port}`,
    REDIS_PASSWORD: ODD_PASSWORD,
    REDIS_CA_FILE: server.certificates.ca,
    ...changed,
  };
  const config = z.object(redisConfig).parse(values);
  const signals = createSignals(createLogger('test', 'silent'));
  return createRedisGuard({ connection: redisConnection(config), timeoutMs: 2_000, cooldownMs: 0, signals });
}

const sentence = async (changed: Record<string, string | undefined>) => (await guardOf(changed).check.ask())?.sentence;

test('the gateway uses Redis over TLS as an ACL user, with any password', async () => {
  const guard = guardOf({});
  guard.start();
  expect(await until(() => guard.attempt('count', (client) => client.incr('things')))).toBeGreaterThan(0);
  guard.stop();
  const inAddress = `rediss://vision:${encodeURIComponent(ODD_PASSWORD)}@127.0.0.1:${server.port}`;
  expect(await sentence({ REDIS_URL: inAddress, REDIS_PASSWORD: undefined })).toBeUndefined();
});

test('a wrong password, a missing user, an untrusted certificate and another name are one sentence each', async () => {
  const wrong = await sentence({ REDIS_PASSWORD: 'wrong-secret' });
  expect(wrong).toMatch(/^Redis refuses the user "vision" of REDIS_URL/);
  expect(wrong).not.toContain('wrong-secret');
  expect(await sentence({ REDIS_URL: `rediss://127.0.0.1:${server.port}` })).toMatch(/^Redis refuses the user/);
  expect(await sentence({ REDIS_CA_FILE: server.strangers.ca })).toMatch(/REDIS_CA_FILE has to hold its authority/);
  expect(await sentence({ REDIS_CA_FILE: undefined })).toMatch(/REDIS_CA_FILE has to hold its authority/);
  const elsewhere = `rediss://vision@127.0.0.2:${server.port}`;
  expect(await sentence({ REDIS_URL: elsewhere })).toMatch(/is not for the name in REDIS_URL/);
  expect(await sentence({ REDIS_URL: 'rediss://127.0.0.1:1' })).toMatch(/does not answer at REDIS_URL/);
  expect(await sentence({ REDIS_URL: 'redis://127.0.0.1:1', REDIS_CA_FILE: undefined })).toMatch(/does not answer/);
});
