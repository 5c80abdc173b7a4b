import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defaultLimits } from '@vision/contracts/limits';
import { testToken } from '@vision/shared/testing/service-keys';
import { startQuota } from './support.ts';
import type { TestQuota } from './support.ts';

let quota: TestQuota;
beforeAll(async () => {
  quota = await startQuota();
});
afterAll(() => quota.stop());

const path = (id: string, action = '') => `/internal/v1/reservations/${encodeURIComponent(id)}${action}`;
const body = (facts: object = {}) => ({
  idempotency_key: randomUUID(),
  kind: 'image',
  units: 10,
  limit: 100,
  ...facts,
});

test('a call is reserved, settled by what succeeded, and the rest is free at once', async () => {
  const subject = randomUUID();
  const id = `${randomUUID()}/1`;
  const reserved = await quota.call('PUT', path(id), { subject, body: body() });
  expect(reserved.status).toBe(200);
  expect(await reserved.json()).toEqual({ outcome: 'granted' });
  for (let turn = 0; turn < 2; turn += 1) {
    const settled = await quota.call('POST', path(id, '/settlement'), { subject, body: { units: 7 } });
    expect(await settled.json()).toEqual({ charged: 7 });
  }
  const usage = await quota.call('GET', '/internal/v1/usage?video_limit=5&image_limit=100', { subject });
  expect(await usage.json()).toMatchObject({
    video: { limit: 5, used: 0, remaining: 5 },
    image: { limit: 100, used: 7, remaining: 93 },
  });
  const late = await quota.call('POST', path(id, '/refund'), { subject });
  expect(await late.json()).toEqual({ charged: 7 });
});

test('more than is left is answered with what is needed to tell the caller', async () => {
  const subject = randomUUID();
  await quota.call('PUT', path(randomUUID()), { subject, body: body({ units: 95 }) });
  const answer = await quota.call('PUT', path(randomUUID()), { subject, body: body() });
  expect(await answer.json()).toEqual({
    outcome: 'exhausted',
    limit: 100,
    used: 95,
    requested: 10,
    resets_at: expect.stringMatching(/T00:00:00\+08:00$/),
  });
});

test('the public usage counts against the limits that the gateway vouches for', async () => {
  const usageWith = async (limits?: typeof defaultLimits) => {
    const token = await testToken('gateway', 'quota', { subject: 'limits', limits });
    const url = `http://127.0.0.1:${quota.service.port}/v1/vision/usage`;
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json();
  };
  expect(await usageWith({ ...defaultLimits, video_tasks_per_day: 7 })).toMatchObject({
    video: { limit: 7, used: 0, remaining: 7 },
    image: { limit: 100 },
  });
  expect(await usageWith()).toMatchObject({ video: { limit: 5 } });
});

test('an id of another subject and a reservation repeated with other facts are a conflict', async () => {
  const id = randomUUID();
  const first = body();
  await quota.call('PUT', path(id), { subject: 'owner', body: first });
  expect((await quota.call('POST', path(id, '/refund'), { subject: 'thief' })).status).toBe(409);
  expect((await quota.call('PUT', path(id), { subject: 'owner', body: { ...first, units: 9 } })).status).toBe(409);
});

test.each([
  ['no units', { units: 0 }],
  ['too many units', { units: 1001 }],
  ['a broken key', { idempotency_key: 'x' }],
  ['an unknown kind', { kind: 'audio' }],
  ['a negative limit', { limit: -1 }],
])('%s is refused with 400', async (_what, facts) => {
  expect((await quota.call('PUT', path(randomUUID()), { body: body(facts) })).status).toBe(400);
});

test('a field that this version does not know is ignored: a newer service may send it', async () => {
  const answer = await quota.call('PUT', path(randomUUID()), { body: body({ of_a_later_version: true }) });
  expect([answer.status, await answer.json()]).toEqual([200, { outcome: 'granted' }]);
});

test('a key of any UUID version and variant is one, in upper and lower case', async () => {
  const subject = randomUUID();
  const key = '1111AAAA-1111-1111-1111-111111111111';
  const first = await quota.call('PUT', path(randomUUID()), { subject, body: body({ idempotency_key: key }) });
  expect([first.status, await first.json()]).toEqual([200, { outcome: 'granted' }]);
  const other = body({ idempotency_key: key.toLowerCase(), kind: 'video', units: 1 });
  const second = await quota.call('PUT', path(randomUUID()), { subject, body: other });
  expect(await second.json()).toEqual({ outcome: 'conflict' });
});

test.each(['a b', 'x'.repeat(201), 'ünï', 'nul\u0000'])('the reservation id %j is not found', async (id) => {
  expect((await quota.call('PUT', path(id), { body: body() })).status).toBe(404);
});

test('a service that reserves for its callers neither checks nor folds the ledger', async () => {
  for (const path of ['/internal/v1/verify', '/internal/v1/retention/run']) {
    const refused = await quota.call('POST', path, { issuer: 'tasks' });
    expect([refused.status, await refused.json()]).toMatchObject([403, { details: { reason: 'call_not_allowed' } }]);
  }
});

test('nothing is answered without a token for this service', async () => {
  const url = `http://127.0.0.1:${quota.service.port}/v1/vision/usage`;
  expect((await fetch(url)).status).toBe(401);
  const foreign = await testToken('gateway', 'results', { subject: 's' });
  expect((await fetch(url, { headers: { authorization: `Bearer ${foreign}` } })).status).toBe(401);
});

test('verification over HTTP finds a corrupted counter and is clean after it is put right', async () => {
  const subject = randomUUID();
  await quota.call('PUT', path(randomUUID()), { subject, body: body() });
  await quota.database.db('quota_days').where({ subject }).update({ used: 9 });
  const found = (await (await quota.call('POST', '/internal/v1/verify', { issuer: 'gateway' })).json()) as {
    differences: unknown[];
  };
  expect(found.differences).toMatchObject([{ subject, kind: 'image', used: 9, ledger: 10 }]);
  await quota.database.db('quota_days').where({ subject }).update({ used: 10 });
  expect(await (await quota.call('POST', '/internal/v1/verify', { issuer: 'gateway' })).json()).toMatchObject({
    differences: [],
  });
});

test('retention can be run by hand', async () => {
  expect(await (await quota.call('POST', '/internal/v1/retention/run', { issuer: 'gateway' })).json()).toEqual({
    reservations: 0,
    counters: 0,
  });
});

test('the service is ready and alive', async () => {
  for (const check of ['startup', 'ready', 'live']) {
    expect((await fetch(`http://127.0.0.1:${quota.service.healthPort}/health/${check}`)).status).toBe(200);
  }
});
