import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { adminToken, bearer, exchange, refusal, startGateway, stopKeyCacheAging } from './support/gateway.ts';
import type { Replica, TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
afterEach(() => {
  jest.restoreAllMocks();
});

const ask = (key: string, at: Replica = gateway) =>
  exchange(`${at.url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) });

test('a key is shown once, stored as a digest, and listed without its text', async () => {
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'Zoë’s key', subject: 'team-a' });
  expect(made.status).toBe(201);
  expect(made.headers.get('cache-control')).toBe('no-store');
  const key = String(made.body['key']);
  expect(key).toMatch(/^vk_[0-9a-f]{16}_[\w-]{43}$/);
  expect(made.body).toEqual({
    key_id: key.slice(3, 19),
    key,
    subject: 'team-a',
    name: 'Zoë’s key',
    created_at: expect.stringMatching(/Z$/),
  });
  const { rows } = await gateway.database.db.raw<{ rows: object[] }>('select * from api_keys');
  const stored = JSON.stringify(rows) + JSON.stringify(await gateway.database.db('audit_log'));
  expect(stored).not.toContain(key.slice(20));
  const list = await gateway.admin('GET', '/admin/v1/keys?subject=team-a');
  expect(list.text).not.toContain(key);
  expect(list.body['items']).toEqual([expect.objectContaining({ key_id: key.slice(3, 19), subject: 'team-a' })]);
  const found = await gateway.admin('GET', `/admin/v1/keys?id_prefix=${key.slice(3, 9)}`);
  expect(found.body['items']).toEqual(list.body['items']);
  expect((await ask(key)).status).toBe(200);
});

test('a key without a named subject has one of its own', async () => {
  const [first, second] = [await gateway.newKey(), await gateway.newKey()];
  expect(first.subject).not.toBe(second.subject);
});

test('a revoked key is refused here at once and on every other replica before the cache runs out', async () => {
  const other = await gateway.addReplica();
  const { key, keyId } = await gateway.newKey();
  stopKeyCacheAging();
  expect((await ask(key)).status).toBe(200);
  expect((await ask(key, other)).status).toBe(200);
  expect((await gateway.admin('DELETE', `/admin/v1/keys/${keyId}`)).status).toBe(204);
  expect((await ask(key)).status).toBe(401);
  await until(async () => (await ask(key, other)).status === 401);
  expect((await gateway.admin('DELETE', `/admin/v1/keys/${keyId}`)).status).toBe(204);
  expect((await gateway.admin('DELETE', '/admin/v1/keys/0123456789abcdef')).status).toBe(404);
});

test('a key that the poll never mentions still ends when the cache runs out', async () => {
  const other = await gateway.addReplica({ KEY_CACHE_MS: '300', SETTINGS_POLL_MS: '600000' });
  const { key, keyId } = await gateway.newKey();
  expect((await ask(key, other)).status).toBe(200);
  await gateway.admin('DELETE', `/admin/v1/keys/${keyId}`);
  await until(async () => (await ask(key, other)).status === 401);
});

test('rotation gives a second key for the same subject, and the first ends after the overlap', async () => {
  const { key, keyId, subject } = await gateway.newKey();
  const rotated = await gateway.admin('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap_s: 60 });
  expect(rotated.status).toBe(201);
  expect(rotated.body['subject']).toBe(subject);
  expect((await ask(key)).status).toBe(200);
  expect((await ask(String(rotated.body['key']))).status).toBe(200);
  const old = () => gateway.database.db('api_keys').where({ key_id: keyId });
  const { expires_at: end } = await old().first<{ expires_at: Date }>('expires_at');
  expect(Number(end) - Date.parse(String(rotated.body['created_at']))).toBe(60_000);
  await old().update({ expires_at: gateway.database.db.fn.now() });
  await until(async () => (await ask(key)).status === 401);
  expect((await ask(String(rotated.body['key']))).status).toBe(200);
  const again = await gateway.admin('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap_s: 1 });
  expect(refusal(again)).toEqual([409, undefined, 'key_ended']);
  const second = String(rotated.body['key_id']);
  const third = await gateway.admin('POST', `/admin/v1/keys/${second}/rotate`, { overlap_s: 0 });
  expect((await ask(String(rotated.body['key']))).status).toBe(401);
  expect((await ask(String(third.body['key']))).status).toBe(200);
});

test('keys outlive a change of the pepper and move to the new one when they are used', async () => {
  const { key, keyId } = await gateway.newKey();
  const peppers = `2:${randomBytes(32).toString('base64')},${gateway.env['API_KEY_PEPPERS'] ?? ''}`;
  const next = await gateway.addReplica({ API_KEY_PEPPERS: peppers });
  expect((await ask(key, next)).status).toBe(200);
  const version = async () => {
    const keys = gateway.database.db<{ key_id: string; pepper_version: number }>('api_keys');
    const row = await keys.where({ key_id: keyId }).first('pepper_version');
    return row?.pepper_version;
  };
  await until(async () => (await version()) === 2);
  const only = await gateway.addReplica({ API_KEY_PEPPERS: peppers.split(',')[0] ?? '' });
  expect((await ask(key, only)).status).toBe(200);
});

test('the time of the last use is noted, once a minute at most', async () => {
  const { key, keyId, subject } = await gateway.newKey();
  const lastUse = async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/keys?subject=${subject}`);
    return (body['items'] as { last_used_at?: string }[])[0]?.last_used_at;
  };
  expect(await lastUse()).toBeUndefined();
  await ask(key);
  const first = await until(lastUse);
  const other = await gateway.addReplica();
  await ask(key);
  await ask(key, other);
  await gateway.database.db('api_keys').where({ key_id: keyId }).first();
  expect(await lastUse()).toBe(first);
});

test('while the key store is unavailable keys are neither accepted nor called invalid, and it heals by itself', async () => {
  const cut = await startGateway({ KEY_CACHE_MS: '1000' });
  try {
    const { key } = await cut.newKey();
    expect((await ask(key, cut)).status).toBe(200);
    const name = new URL(cut.database.url).pathname.slice(1);
    const setOpen = (isOpen: boolean) =>
      gateway.database.db.raw(`alter database ${name} with allow_connections ${String(isOpen)}`);
    await setOpen(false);
    await gateway.database.db.raw('select pg_terminate_backend(pid) from pg_stat_activity where datname = ?', [name]);
    const unknown = `vk_0123456789abcdef_${'A'.repeat(43)}`;
    const answer = await ask(unknown, cut);
    expect(refusal(answer)).toEqual([503, 'OP-SYS-UNAVAILABLE', 'key_store_unavailable']);
    expect(answer.headers.get('retry-after')).toBe('5');
    await until(async () => (await ask(key, cut)).status === 503);
    expect((await exchange(`${cut.healthUrl}/health/ready`)).status).toBe(200);
    expect((await exchange(`${cut.healthUrl}/health/live`)).status).toBe(200);
    // An operator can still ask what is wrong.
    const { status, body } = await cut.admin('GET', '/admin/v1/status');
    const { dependencies } = body['gateway'] as { dependencies: { name: string; fault?: string }[] };
    expect([status, dependencies.filter(({ fault }) => fault).map(({ name }) => name)]).toEqual([200, ['database']]);
    await setOpen(true);
    await until(async () => (await ask(key, cut)).status === 200);
    expect((await ask(unknown, cut)).status).toBe(401);
  } finally {
    await cut.stop();
  }
});

test('the admin API takes its own token only, and keys do not open it', async () => {
  const { key } = await gateway.newKey();
  for (const headers of [{}, bearer(key), bearer(adminToken.slice(1)), bearer(`${adminToken}x`)]) {
    expect((await exchange(`${gateway.adminUrl}/admin/v1/keys`, 'GET', { headers })).status).toBe(401);
  }
  expect((await exchange(`${gateway.url}/admin/v1/keys`, 'GET', { headers: bearer(adminToken) })).status).toBe(401);
});
