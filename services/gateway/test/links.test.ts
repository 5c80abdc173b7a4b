import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createSecretBox } from '@vision/shared/secret-box';
import { until } from '@vision/shared/testing/until';
import { sealLink } from '../src/domain/link.ts';
import { bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';

const linkKey = randomBytes(32);
const box = createSecretBox([{ version: 1, key: linkKey }]);
const taskId = randomUUID();
const path = `/v1/vision/tasks/${taskId}/video`;
const hour = () => Date.now() + 3_600_000;

let gateway: TestGateway;
let key: string;
let keyId: string;
let subject: string;
beforeAll(async () => {
  gateway = await startGateway({ LINK_KEYS: linkKey.toString('base64') });
  ({ key, keyId, subject } = await gateway.newKey());
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const create = (body: unknown, url = gateway.url) =>
  exchange(`${url}/v1/vision/links`, 'POST', {
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const open = (token: string, headers: Record<string, string> = {}, url = gateway.url) =>
  exchange(`${url}/v1/vision/links/${token}`, 'GET', { headers });
const sealed = (changed: Partial<Parameters<typeof sealLink>[1]> = {}) =>
  sealLink(box, { subject, keyId, path, endsAt: hour(), ...changed });
const INVALID = [404, undefined, 'link_invalid'];

test('a link reads its path without a key, as the subject that created it', async () => {
  const created = await create({ path: path.replace(taskId, taskId.toUpperCase()), expires_in_s: 60 });
  expect([created.status, created.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const leftMs = Date.parse(String(created.body['expires_at'])) - Date.now();
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(60_000);
  const asked: { url?: string | undefined; range?: string | undefined; subject?: unknown }[] = [];
  gateway.upstream.answer = (req, res) => {
    const [, payload = ''] = (req.headers.authorization ?? '').split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    asked.push({ url: req.url, range: req.headers.range, subject: claims['sub'] });
    res.writeHead(206, { 'content-type': 'video/mp4' }).end('film');
  };
  const read = await exchange(gateway.url + String(created.body['url']), 'GET', { headers: { range: 'bytes=0-3' } });
  expect([read.status, read.text, read.headers.get('referrer-policy')]).toEqual([206, 'film', 'no-referrer']);
  expect([read.headers.get('ratelimit'), read.headers.get('ratelimit-policy')]).toEqual([null, null]);
  expect(asked).toEqual([{ url: path, range: 'bytes=0-3', subject }]);
});

test.each([
  ['another operation', '/v1/vision/tasks'],
  ['results', `/v1/vision/tasks/${taskId}/results`],
  ['a dot segment', `/v1/vision/tasks/x/../${taskId}/video`],
  ['an encoded slash', `/v1/vision/tasks/${taskId}%2fvideo`],
  ['an encoded letter', `/v1/vision/tasks/${taskId}/%76ideo`],
  ['a query', `${path}?min_score=0`],
  ['a fragment', `${path}#x`],
  ['a slash at the end', `${path}/`],
  ['a slash more', `/${path}`],
  ['another host', `//evil.example${path}`],
  ['an address', `http://evil.example${path}`],
  ['an id that is none', '/v1/vision/tasks/1/video'],
  ['nothing', ''],
])('no link is created for %s', async (_name, odd) => {
  expect(refusal(await create({ path: odd, expires_in_s: 60 }))).toEqual([
    400,
    'OP-TASK-REQUEST-INVALID',
    'link_path_invalid',
  ]);
});

test.each([59, 86_401, 60.5, '60', null])('no link is valid for %p seconds', async (expires_in_s) => {
  expect(refusal(await create({ path, expires_in_s }))).toEqual([400, 'OP-TASK-REQUEST-INVALID', 'body_invalid']);
});

test('tokens that open nothing are refused alike, with any fault', async () => {
  const good = sealed();
  const other = await gateway.newKey();
  const bad = [
    'x',
    '%2e%2ex',
    'A'.repeat(4000),
    good.slice(0, -1),
    `${good.slice(0, -2)}${good.endsWith('AA') ? 'BB' : 'AA'}`,
    sealed({ endsAt: Date.now() - 1 }),
    sealed({ keyId: other.keyId }),
    sealed({ keyId: 'none' }),
    sealed({ path: '/v1/vision/usage' }),
    sealLink(createSecretBox([{ version: 1, key: randomBytes(32) }]), { subject, keyId, path, endsAt: hour() }),
  ];
  const essences = new Set<string>();
  for (const token of bad) {
    const answer = await open(token);
    expect(refusal(answer)).toEqual(INVALID);
    const { instance: _instance, trace_id: _trace, ...rest } = answer.body;
    essences.add(JSON.stringify(rest));
  }
  expect(essences.size).toBe(1);
});

test('a link is dead when its key is revoked', async () => {
  const own = await gateway.newKey();
  const token = sealed({ subject: own.subject, keyId: own.keyId });
  expect((await open(token)).status).toBe(200);
  await gateway.admin('DELETE', `/admin/v1/keys/${own.keyId}`);
  await until(async () => (await open(token)).status === 404);
});

test('a link to a task that its owner has deleted is dead with the next request', async () => {
  const token = sealed();
  expect((await open(token)).status).toBe(200);
  const detail = { reason: 'task_not_found' };
  gateway.upstream.answer = (_req, res) => {
    const problem = { title: 'Not found', status: 404, detail: 'There is no such task.', details: detail };
    res.writeHead(404, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
  };
  expect(refusal(await open(token))).toEqual([404, undefined, 'task_not_found']);
});

test('wrong tokens count as wrong keys, and a valid link opens all the same', async () => {
  const { url } = await gateway.addReplica({ AUTH_FAILURES_PER_MINUTE: '3' });
  const seen = [];
  for (let turn = 0; turn < 5; turn += 1) seen.push((await open('wrong', {}, url)).status);
  expect(seen).toEqual([404, 404, 404, 429, 429]);
  expect((await exchange(`${url}/v1/vision/tasks`, 'GET', { headers: bearer('vk_wrong') })).status).toBe(429);
  expect((await open(sealed(), {}, url)).status).toBe(200);
});

test('a link takes from the rate of its subject', async () => {
  const own = await gateway.newKey({ requests_per_second: 0.1, burst: 1 });
  const token = sealed({ subject: own.subject, keyId: own.keyId });
  expect((await open(token)).status).toBe(200);
  expect(refusal(await open(token))).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'rate_exceeded']);
});

test('no line of the log holds a token', async () => {
  const token = sealed();
  await open(token);
  await open(`${token}x`);
  await exchange(`${gateway.url}/v1/vision/links/${token}/more`, 'GET', {});
  await exchange(`${gateway.url}/v1/vision/%6cinks/${token}`, 'GET', {});
  expect(gateway.log()).toContain('getLink');
  expect(gateway.log()).not.toContain(token.slice(0, 40));
});

test('without keys no link is created, and none opens', async () => {
  const { url } = await gateway.addReplica({ LINK_KEYS: '' });
  expect(refusal(await create({ path, expires_in_s: 60 }, url))).toEqual([
    503,
    'OP-SYS-UNAVAILABLE',
    'links_not_configured',
  ]);
  expect(refusal(await open(sealed(), {}, url))).toEqual(INVALID);
});
