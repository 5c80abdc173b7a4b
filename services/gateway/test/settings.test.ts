import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTokenVerifier } from '@vision/shared/http/service-token';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { testPublicKeys } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';

const verifier = createTokenVerifier('tasks', serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys));
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

async function keyOf(subject: string, scopes?: string[]): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', { subject, name: 'n', ...(scopes ? { scopes } : {}) });
  return String(made.body['key']);
}

const settings = (key: string, method = 'GET', body?: unknown, url = gateway.url) =>
  exchange(`${url}/v1/vision/settings`, method, {
    headers: { ...bearer(key), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** What the token for the next service says. */
async function carried(key: string, url = gateway.url) {
  await exchange(`${url}/v1/vision/tasks`, 'GET', { headers: bearer(key) });
  const [value = ''] = valuesOf(gateway.upstream.last().rawHeaders, 'authorization');
  return (await verifier.verify(value.replace('Bearer ', ''))).snapshots;
}

test('snapshots are off until a subject turns them on, for all of its keys and no other subject', async () => {
  const subject = randomUUID();
  const [key, second, other] = [await keyOf(subject), await keyOf(subject), await keyOf(randomUUID())];
  expect((await settings(key)).body).toEqual({ snapshots: 'off' });
  expect([await carried(key), await carried(second)]).toEqual(['off', 'off']);
  const put = await settings(key, 'PUT', { snapshots: 'tracks' });
  expect([put.status, put.body]).toEqual([200, { snapshots: 'tracks' }]);
  expect((await settings(second)).body).toEqual({ snapshots: 'tracks' });
  expect([await carried(key), await carried(second), await carried(other)]).toEqual(['tracks', 'tracks', 'off']);
  expect((await settings(key, 'PUT', { snapshots: 'tracks' })).status).toBe(200);
  await settings(key, 'PUT', { snapshots: 'off' });
  expect([(await settings(key)).body, await carried(second)]).toEqual([{ snapshots: 'off' }, 'off']);
});

test('a change reaches the other replicas, with any cached state of the key', async () => {
  const key = await keyOf(randomUUID());
  const replica = await gateway.addReplica();
  expect(await carried(key, replica.url)).toBe('off');
  await settings(key, 'PUT', { snapshots: 'tracks' });
  await until(async () => (await carried(key, replica.url)) === 'tracks');
});

test('the operator chooses the default, which a subject overrides', async () => {
  const key = await keyOf(randomUUID());
  const replica = await gateway.addReplica({ SNAPSHOTS_DEFAULT: 'tracks' });
  expect((await settings(key, 'GET', undefined, replica.url)).body).toEqual({ snapshots: 'tracks' });
  expect(await carried(key, replica.url)).toBe('tracks');
  await settings(key, 'PUT', { snapshots: 'off' }, replica.url);
  expect(await carried(key, replica.url)).toBe('off');
});

test('a change is audited with its key, and needs the scope to create', async () => {
  const subject = randomUUID();
  const reader = await keyOf(subject, ['read']);
  expect(refusal(await settings(reader, 'PUT', { snapshots: 'tracks' }))).toEqual([403, undefined, 'scope_missing']);
  expect((await settings(reader)).body).toEqual({ snapshots: 'off' });
  const key = await keyOf(subject);
  await settings(key, 'PUT', { snapshots: 'tracks' });
  const audit = await gateway.database.db('audit_log').where({ target: subject, action: 'settings.put' }).select('*');
  expect(audit).toMatchObject([{ actor: `key ${key.slice(3, 19)}`, details: { snapshots: 'tracks' }, result: 'done' }]);
});

test.each<[string, unknown]>([
  ['an unknown mode', { snapshots: 'all' }],
  ['no mode', {}],
  ['null', { snapshots: null }],
  ['a list', [{ snapshots: 'off' }]],
  ['an unknown setting', { snapshots: 'off', colour: 'red' }],
])('refuses %s', async (_name, body) => {
  const key = await keyOf(randomUUID());
  expect((await settings(key, 'PUT', body)).status).toBe(400);
  expect((await settings(key)).body).toEqual({ snapshots: 'off' });
});
