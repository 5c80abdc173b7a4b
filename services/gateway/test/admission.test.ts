import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { defaultLimits } from '@vision/contracts/limits';
import { until } from '@vision/shared/testing/until';
import { verifyTestToken } from '@vision/shared/testing/service-keys';
import { adminToken, bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';
import { wire } from './support/wire.ts';

let gateway: TestGateway;
let key: string;
let subject: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ key, subject } = await gateway.newKey());
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const scenes = (headers: Record<string, string>) => exchange(`${gateway.url}/api/op/v1/scenes`, 'GET', { headers });

test('without a key nothing is answered but the documentation', async () => {
  const paths = ['/v1/vision/tasks', '/api/op/v1/scenes', '/v1/vision/usage', '/nothing/here', '/admin/v1/keys'];
  for (const path of paths) {
    const answer = await exchange(gateway.url + path);
    expect(refusal(answer)).toEqual([401, 'OP-AUTH-REQUIRED', 'api_key_missing']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  }
  const document = await exchange(`${gateway.url}/openapi.json`);
  expect(document.body['openapi']).toBe('3.1.0');
  expect((await exchange(`${gateway.url}/docs`)).text).toContain('/docs/swagger-ui-bundle.js');
  expect((await exchange(`${gateway.url}/docs/swagger-ui-bundle.js`)).status).toBe(200);
  expect((await exchange(`${gateway.url}/docs/../package.json`)).status).toBe(401);
  expect(gateway.upstream.seen).toHaveLength(0);
});

test.each([
  ['another scheme', (valid: string) => `Basic ${valid}`],
  ['no scheme', (valid: string) => valid],
  ['an empty token', () => 'Bearer '],
  ['two blanks', (valid: string) => `Bearer  ${valid}`],
  ['a wrong secret', (valid: string) => `Bearer ${valid.slice(0, -4)}AAAA`],
  ['an unknown id', (valid: string) => `Bearer vk_0123456789abcdef${valid.slice(19)}`],
  ['upper case', (valid: string) => `Bearer ${valid.toUpperCase()}`],
  ['more text', (valid: string) => `Bearer ${valid}0`],
  ['a long token', () => `Bearer vk_${'a'.repeat(6000)}`],
  ['quotes', () => `Bearer vk_' or 1=1 --`],
])('a credential with %s is refused', async (_what, credential) => {
  const answer = await scenes({ authorization: credential(key) });
  expect(refusal(answer)).toEqual([401, 'OP-AUTH-REQUIRED', 'api_key_invalid']);
});

test('the scheme may be written in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'BeArEr']) {
    expect((await scenes({ authorization: `${scheme} ${key}` })).status).toBe(200);
  }
});

test('two Authorization headers are refused, also when both hold the key', async () => {
  const line = `Authorization: Bearer ${key}`;
  const { ended } = await wire(
    gateway.url,
    'GET /api/op/v1/scenes HTTP/1.1',
    'Host: x',
    line,
    line,
    'Connection: close',
  );
  expect(await ended).toMatch(/^HTTP\/1.1 401 /);
});

test('a key in the query is not read, and nowhere logged', async () => {
  const answer = await exchange(`${gateway.url}/api/op/v1/scenes?api_key=${key}&key=${key}`);
  expect(answer.status).toBe(401);
  const inPath = await exchange(`${gateway.url}/v1/${key}`, 'GET', { headers: bearer(key) });
  expect(inPath.status).toBe(404);
  await scenes({ ...bearer(key), 'x-request-id': key });
  await exchange(`${gateway.url}/v1/${key.replaceAll('_', '%5F')}/encoded`, 'GET', { headers: bearer(key) });
  await until(() => gateway.log().includes('***/encoded"'));
  expect(gateway.log()).toContain('"path":"/v1/vk_');
  const secret = key.split('_').slice(2).join('_');
  expect(gateway.log()).not.toContain(secret);
  expect(gateway.log()).not.toContain(gateway.env['ADMIN_TOKEN']);
});

test('an unknown address is 404 and a wrong method 405, for holders of a key only', async () => {
  const missing = await exchange(`${gateway.url}/v1/vision/nothing`, 'GET', { headers: bearer(key) });
  expect(refusal(missing)).toEqual([404, undefined, 'not_found']);
  const wrong = await exchange(`${gateway.url}/v1/vision/tasks`, 'DELETE', { headers: bearer(key) });
  expect(refusal(wrong)).toEqual([405, undefined, 'method_not_allowed']);
  expect(wrong.headers.get('allow')).toBe('POST, GET');
  expect((await exchange(`${gateway.url}/v1/vision/tasks`, 'DELETE')).status).toBe(401);
  for (const path of [
    '/V1/vision/tasks',
    '/v1/vision/tasks/',
    '/v1/vision/usage/',
    '/api/op/v1/scenes/',
    '//v1/vision/tasks',
    '/v1/vision/tasks/..%2f..%2fadmin',
    '/v1/vision%2ftasks',
  ]) {
    expect((await exchange(gateway.url + path, 'GET', { headers: bearer(key) })).status).toBe(404);
  }
  expect(gateway.upstream.seen).toHaveLength(0);
});

test('an id that is no UUID is 404 and reaches no service', async () => {
  const ids = ['1', 'null', `x' or '1'='1`, '%00', '0'.repeat(10_000), '{01890000-0000-7000-8000-000000000000}'];
  for (const id of ids) {
    const path = `/v1/vision/tasks/${encodeURIComponent(id)}`;
    expect((await exchange(gateway.url + path, 'GET', { headers: bearer(key) })).status).toBe(404);
  }
  for (const path of ['/v1/vision/tasks/%zz', '/%', '/openapi.json%c3']) {
    const known = await exchange(gateway.url + path, 'GET', { headers: bearer(key) });
    expect(refusal(known)).toEqual([400, 'OP-TASK-REQUEST-INVALID', 'path_malformed']);
    expect(known.headers.get('ratelimit')).not.toBeNull();
    expect(refusal(await exchange(gateway.url + path))).toEqual([401, 'OP-AUTH-REQUIRED', 'api_key_missing']);
  }
  expect(gateway.upstream.seen).toHaveLength(0);
});

test('the service behind learns who asks, with which limits, from a token of its own', async () => {
  await exchange(`${gateway.url}/v1/vision/tasks?limit=3&cursor=a%2Fb`, 'GET', { headers: bearer(key) });
  const { url, rawHeaders } = gateway.upstream.last();
  expect(url).toBe('/v1/vision/tasks?limit=3&cursor=a%2Fb');
  const [token = ''] = valuesOf(rawHeaders, 'authorization');
  expect(token).not.toContain(key);
  const caller = await verifyTestToken('tasks', token.slice(7));
  const keyId = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(caller).toEqual({ subject, keyId, issuer: 'gateway', limits: defaultLimits, snapshots: 'off' });
  await expect(verifyTestToken('quota', token.slice(7))).rejects.toThrow();
});

test.each([
  ['rubbish', ['rubbish']],
  ['two lengths', ['POST /v1/vision/tasks HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2']],
  [
    'length and chunks',
    ['POST /v1/vision/tasks HTTP/1.1', 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked'],
  ],
  ['a signed length', ['POST /v1/vision/tasks HTTP/1.1', 'Host: x', 'Content-Length: +5']],
  ['headers beyond the limit', ['GET /v1/vision/tasks HTTP/1.1', 'Host: x', `X-Long: ${'x'.repeat(20_000)}`]],
])('a request with %s is answered 400 under a trace id, and the connection closed', async (_what, lines) => {
  const { ended } = await wire(gateway.url, ...lines);
  const answer = await ended;
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  const [, traceId = 'none'] = /^X-Trace-Id: ([0-9a-f]{32})\r$/m.exec(answer) ?? [];
  expect(answer).toContain(`"trace_id":"${traceId}"`);
  expect(gateway.upstream.seen).toHaveLength(0);
});

test.each([
  ['an expectation other than 100-continue', ['Host: x', 'Expect: junk', 'Content-Length: 0'], 'expectation_unknown'],
  ['a request without Host', ['Content-Length: 0'], 'host_missing'],
  ['another transfer coding', ['Host: x', 'Transfer-Encoding: gzip, chunked'], 'transfer_encoding_unsupported'],
])('%s is a fault of the request', async (_case, lines, reason) => {
  const headers = [...lines, `Authorization: Bearer ${key}`, 'Connection: close'];
  const { socket, ended } = await wire(gateway.url, 'POST /v1/vision/tasks HTTP/1.1', ...headers);
  if (lines.includes('Transfer-Encoding: gzip, chunked')) socket.write('0\r\n\r\n');
  const text = await ended;
  expect(text).toMatch(/^HTTP\/1.1 400 [^]*application\/problem\+json/);
  expect(text).toContain(`"${reason}"`);
});

test.each([
  ['two Host headers', ['GET /api/op/v1/scenes HTTP/1.1', 'Host: a', 'Host: b'], 'host_repeated'],
  ['the same Host twice', ['GET /openapi.json HTTP/1.1', 'Host: a', 'host: a'], 'host_repeated'],
  ['HTTP/2.0 in its first line', ['GET /api/op/v1/scenes HTTP/2.0', 'Host: a'], 'http_version_unsupported'],
])('a request with %s is refused by both listeners', async (_what, lines, reason) => {
  for (const url of [gateway.url, gateway.adminUrl]) {
    const { ended } = await wire(url, ...lines, `Authorization: Bearer ${key}`, 'Connection: close');
    const text = await ended;
    expect(text).toMatch(/^HTTP\/1.1 400 [^]*application\/problem\+json/);
    expect(text).toContain(`"${reason}"`);
  }
});

test('a condition on a version that nothing has is ignored', async () => {
  const headers = { ...bearer(key), 'if-none-match': '*' };
  for (const path of ['/api/op/v1/scenes', '/openapi.json', '/docs', '/v1/vision/usage']) {
    expect((await exchange(gateway.url + path, 'GET', { headers })).status).toBe(200);
  }
});

test('no answer may be taken for another kind of content, and the documentation is closed to strangers', async () => {
  for (const path of ['/api/op/v1/scenes', '/openapi.json', '/docs', '/v1/vision/usage', '/nothing']) {
    const { headers } = await exchange(gateway.url + path, 'GET', { headers: bearer(key) });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
  expect((await exchange(`${gateway.adminUrl}/admin/v1/keys`)).headers.get('x-content-type-options')).toBe('nosniff');
  const { headers } = await exchange(`${gateway.url}/docs`);
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});

test('a client that presents wrong keys all the time is slowed down, and valid keys of the same network never are', async () => {
  const replica = await gateway.addReplica({
    AUTH_FAILURES_PER_MINUTE: '5',
    KEY_CACHE_MS: '1',
    TRUSTED_PROXIES: 'loopback',
  });
  const ask = (presented: string, from: string) =>
    exchange(`${replica.url}/api/op/v1/scenes`, 'GET', {
      headers: { ...bearer(presented), 'x-forwarded-for': from },
    });
  const guess = `vk_0123456789abcdef_${'g'.repeat(43)}`;
  for (let turn = 0; turn < 5; turn += 1) {
    expect((await ask(turn % 2 === 0 ? 'vk_wrong' : guess, '203.0.113.7')).status).toBe(401);
  }
  for (const wrong of ['vk_wrong', guess, `${key.slice(0, -4)}AAAA`]) {
    const slowed = await ask(wrong, '203.0.113.7');
    expect(refusal(slowed)).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'too_many_invalid_keys']);
    expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await ask(key, '203.0.113.7')).status).toBe(200);
  expect((await ask('vk_wrong', '203.0.113.8')).status).toBe(401);
});

test('a valid key without earlier use passes in the middle of a flood of guesses from its own address', async () => {
  const replica = await gateway.addReplica({ AUTH_FAILURES_PER_MINUTE: '5', KEY_CACHE_MS: '1' });
  const guess = (number: number) =>
    exchange(`${replica.url}/api/op/v1/scenes`, 'GET', {
      headers: bearer(`vk_${number.toString(16).padStart(16, '0')}_${'g'.repeat(43)}`),
    });
  const flood = Promise.all(Array.from({ length: 300 }, (_, number) => guess(number)));
  for (let turn = 0; turn < 10; turn += 1) {
    expect((await exchange(`${replica.url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) })).status).toBe(200);
  }
  const answers = (await flood).map(({ status }) => status);
  expect(new Set(answers)).toEqual(new Set([401, 429]));
  expect(answers.filter((status) => status === 401)).toHaveLength(5);
});

test('all addresses of one IPv6 network count together, and a client cannot choose its own', async () => {
  const replica = await gateway.addReplica({ AUTH_FAILURES_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.1' });
  const guess = async (from: string, url = replica.url) => {
    const headers = { ...bearer('vk_wrong'), 'x-forwarded-for': from };
    return (await exchange(`${url}/api/op/v1/scenes`, 'GET', { headers })).status;
  };
  const spellings = ['2001:db8::1', '2001:db8:0:0:a:b:c:d', '2001:db8::ffff:2', '2001:db8::9'];
  const seen = [];
  for (const address of spellings) seen.push(await guess(`9.9.9.${String(seen.length)}, ${address}`));
  expect(seen).toEqual([401, 401, 401, 429]);
  expect(await guess('2001:db8:0:1::1')).toBe(401);
  // No proxy is trusted by default.
  const direct = await gateway.addReplica({ AUTH_FAILURES_PER_MINUTE: '3' });
  const rotating = [];
  for (let turn = 0; turn < 4; turn += 1) rotating.push(await guess(`203.0.113.${String(turn)}`, direct.url));
  expect(rotating).toEqual([401, 401, 401, 429]);
});

test('guesses of the admin token are throttled for their network only', async () => {
  const replica = await gateway.addReplica({ ADMIN_FAILURES_PER_MINUTE: '3', TRUSTED_PROXIES: 'loopback' });
  const ask = (token: string, from: string) =>
    exchange(`${replica.adminUrl}/admin/v1/keys`, 'GET', { headers: { ...bearer(token), 'x-forwarded-for': from } });
  for (let turn = 0; turn < 3; turn += 1) {
    expect((await ask(`guess-${String(turn)}`, '203.0.113.7')).status).toBe(401);
  }
  const slowed = await ask('guess-4', '203.0.113.7');
  expect(refusal(slowed)).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'too_many_invalid_tokens']);
  expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask('guess-5', '203.0.113.8')).status).toBe(401);
  for (let turn = 0; turn < 5; turn += 1) {
    expect((await exchange(`${replica.adminUrl}/admin/v1/keys`)).status).toBe(401);
  }
  expect((await exchange(`${replica.adminUrl}/admin/v1/keys`, 'GET', { headers: bearer(adminToken) })).status).toBe(
    200,
  );
});

test('the right admin token passes behind many wrong ones of its network, which it does not forgive', async () => {
  const { adminUrl } = await gateway.addReplica({ ADMIN_FAILURES_PER_MINUTE: '3' });
  const ask = async (token: string) =>
    (await exchange(`${adminUrl}/admin/v1/keys`, 'GET', { headers: bearer(token) })).status;
  const seen = [];
  for (const token of ['guess-1', 'guess-2', 'guess-3', 'guess-4', adminToken, 'guess-5']) seen.push(await ask(token));
  expect(seen).toEqual([401, 401, 401, 429, 200, 429]);
});

test('guesses of the admin token that arrive together are throttled like those that come one by one', async () => {
  const { adminUrl } = await gateway.addReplica({ ADMIN_FAILURES_PER_MINUTE: '3' });
  const request = (token: string, ...more: string[]) =>
    ['GET /admin/v1/keys HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`, ...more, '', ''].join('\r\n');
  const wires = await Promise.all(Array.from({ length: 10 }, () => wire(adminUrl)));
  for (const { socket } of wires) {
    socket.write(request('guess').repeat(3) + request('guess', 'Connection: close'));
  }
  const answers = await Promise.all(wires.map(({ ended }) => ended));
  const statuses = [...answers.join('').matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  expect(statuses.toSorted()).toEqual([...Array<string>(3).fill('401'), ...Array<string>(37).fill('429')]);
});
