import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { drain } from '@vision/shared/http/drain';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';
import { wire } from './support/wire.ts';

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.newKey());
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const call = (path: string, method = 'GET', init: RequestInit = {}) =>
  exchange(gateway.url + path, method, { ...init, headers: { ...bearer(key), ...(init.headers as object) } });
const head = (method: string, path: string) => [
  `${method} ${path} HTTP/1.1`,
  'Host: x',
  `Authorization: Bearer ${key}`,
];
const taskId = randomUUID();

test.each([
  ['POST', '/v1/vision/tasks'],
  ['GET', '/v1/vision/tasks'],
  ['POST', '/v1/vision/video-tasks'],
  ['GET', `/v1/vision/tasks/${taskId}`],
  ['GET', `/v1/vision/tasks/${taskId}/results`],
  ['POST', `/v1/vision/tasks/${taskId}/stop`],
  ['POST', '/v1/vision/image-detections'],
  ['GET', '/v1/vision/usage'],
])('%s %s reaches its service and the answer comes back', async (method, path) => {
  const answer = await call(`${path}?x=1&x=2`, method, method === 'POST' ? { body: 'hello' } : {});
  expect([answer.status, answer.text]).toEqual([200, '{"ok":true}']);
  const seen = gateway.upstream.last();
  expect([seen.method, seen.url, seen.body]).toEqual([method, `${path}?x=1&x=2`, method === 'POST' ? 'hello' : '']);
});

test('HEAD is answered like GET, without a body', async () => {
  const answer = await call('/v1/vision/usage', 'HEAD');
  expect([answer.status, answer.text]).toEqual([200, '']);
});

test('doubled headers reach the owner doubled, hop-by-hop and tracing headers do not', async () => {
  const { ended } = await wire(
    gateway.url,
    ...head('POST', '/v1/vision/tasks'),
    'Idempotency-Key: one',
    'Idempotency-Key: two',
    'Content-Length: 0',
    'Connection: close, X-Hop',
    'X-Hop: 1',
    'TE: trailers',
    'Cookie: a=b',
    'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'baggage: a=b',
    'X-Kept: yes',
  );
  expect(await ended).toMatch(/^HTTP\/1.1 200 /);
  const { rawHeaders } = gateway.upstream.last();
  expect(valuesOf(rawHeaders, 'idempotency-key')).toEqual(['one', 'two']);
  expect(valuesOf(rawHeaders, 'x-kept')).toEqual(['yes']);
  for (const name of ['x-hop', 'te', 'cookie', 'baggage']) expect(valuesOf(rawHeaders, name)).toEqual([]);
  expect(valuesOf(rawHeaders, 'traceparent').join()).not.toContain('0af7651916cd43dd8448eb211c80319c');
});

test('a client cannot strip headers that carry meaning by naming them in Connection', async () => {
  const { ended } = await wire(
    gateway.url,
    ...head('POST', '/v1/vision/tasks'),
    'Idempotency-Key: one',
    'Content-Length: 0',
    'Connection: close, idempotency-key, authorization',
  );
  expect(await ended).toMatch(/^HTTP\/1.1 200 /);
  expect(valuesOf(gateway.upstream.last().rawHeaders, 'idempotency-key')).toEqual(['one']);
});

test('the request id is one and the same everywhere, and headers of the service come back', async () => {
  gateway.upstream.answer = (_req, res) => {
    res
      .writeHead(400, {
        'content-type': 'application/problem+json',
        'X-Request-Id': 'other',
        'Idempotency-Replayed': 'true',
        'X-Powered-By': 'x',
      })
      .end('{}');
  };
  const answer = await call('/v1/vision/tasks', 'GET', { headers: { 'x-request-id': 'mine-1' } });
  expect(answer.headers.get('x-request-id')).toBe('mine-1');
  expect(valuesOf(gateway.upstream.last().rawHeaders, 'x-request-id')).toEqual(['mine-1']);
  expect(answer.headers.get('idempotency-replayed')).toBe('true');
  expect(answer.headers.get('x-powered-by')).toBeNull();
  expect(answer.headers.get('ratelimit')).toMatch(/^"requests";r=\d+/);
  const odd = await call('/v1/vision/tasks', 'GET', { headers: { 'x-request-id': 'a b\u00e9' } });
  expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a body on GET does not reach the service, nor does it become a request of its own', async () => {
  const { ended } = await wire(
    gateway.url,
    ...head('GET', '/v1/vision/tasks'),
    'Transfer-Encoding: chunked',
    'Connection: close',
    '',
    '10\r\nGET /evil HTTP/1\r\n0',
  );
  expect(await ended).toMatch(/^HTTP\/1.1 200 /);
  expect(gateway.upstream.seen.map(({ url }) => url)).toEqual(['/v1/vision/tasks']);
});

test('uploads pass through while they arrive', async () => {
  const upload = startUpload();
  upload.write(Buffer.alloc(100_000));
  await until(() => gateway.upstream.seen[0]?.bytes === 100_000);
  upload.write(Buffer.alloc(200_000));
  await until(() => gateway.upstream.seen[0]?.bytes === 300_000);
  upload.end();
  const { status } = await upload.answer;
  expect(status).toBe(200);
});

test('an early refusal reaches the client while it still uploads, and the rest is read and dropped', async () => {
  gateway.upstream.answer = (req, res) => {
    res.writeHead(400, { 'content-type': 'application/problem+json', 'content-length': '14', connection: 'close' });
    res.write('{"early":true}');
    drain(req, () => res.end());
  };
  const megabyte = Buffer.alloc(1_000_000);
  const upload = await wire(gateway.url, ...head('POST', '/v1/vision/video-tasks'), 'Content-Length: 30000000');
  upload.socket.write(megabyte);
  await until(() => upload.text().endsWith('{"early":true}'));
  expect(upload.text()).toMatch(/^HTTP\/1.1 400 [^]*Connection: close/);
  for (let turn = 1; turn < 30; turn += 1) {
    await new Promise<void>((resolve, reject) => {
      upload.socket.write(megabyte, (error) => (error ? reject(error) : resolve()));
    });
  }
  expect(await upload.ended).toMatch(/\{"early":true\}$/);
  expect(gateway.upstream.last().bytes).toBeLessThan(30_000_000);
});

test('a head that is refused is answered before the first byte of the body', async () => {
  gateway.upstream.answer = (_req, res) => res.writeHead(400, { 'content-length': '14' }).end('{"early":true}');
  const upload = await wire(gateway.url, ...head('POST', '/v1/vision/video-tasks'), 'Content-Length: 30000000');
  await until(() => upload.text().endsWith('{"early":true}'));
  expect(gateway.upstream.last().bytes).toBe(0);
  upload.socket.destroy();
});

test('a client that goes away in the middle takes the upstream request along', async () => {
  gateway.upstream.answer = () => undefined;
  const upload = startUpload();
  upload.write(Buffer.alloc(50_000));
  await until(() => gateway.upstream.seen[0]?.bytes === 50_000);
  upload.destroy();
  await until(() => gateway.upstream.seen[0]?.isCut);
  expect(gateway.upstream.last().isComplete).toBe(false);
  gateway.upstream.reset();
  expect((await call('/v1/vision/tasks')).status).toBe(200);
});

test('an answer that breaks off is cut for the client too', async () => {
  gateway.upstream.answer = (_req, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('half', () => res.destroy());
  };
  await expect(call('/v1/vision/tasks')).rejects.toThrow();
});

test('a service that closes without an answer is 503 with the key free for a retry', async () => {
  gateway.upstream.answer = (req) => req.socket.destroy();
  const answer = await call('/v1/vision/tasks', 'POST', { body: 'x' });
  expect(refusal(answer)).toEqual([503, 'OP-SYS-UNAVAILABLE', 'tasks_unavailable']);
  expect([answer.headers.get('retry-after'), answer.body['retryable']]).toEqual(['5', true]);
});

test('a service that never answers is given up', async () => {
  const hasty = await gateway.addReplica({ UPSTREAM_READ_MS: '3000' });
  gateway.upstream.answer = () => undefined;
  const answer = await exchange(`${hasty.url}/v1/vision/usage`, 'GET', { headers: bearer(key) });
  expect(refusal(answer)).toEqual([503, 'OP-SYS-UNAVAILABLE', 'quota_unavailable']);
  await until(() => gateway.upstream.last().isCut);
});

test('a read is given up sooner than a call that may work for long', async () => {
  const patient = await gateway.addReplica({ UPSTREAM_READ_MS: '300' });
  let answerLate: () => void = () => undefined;
  gateway.upstream.answer = (req, res) => {
    if (req.method === 'POST') answerLate = () => res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const stopping = exchange(`${patient.url}/v1/vision/tasks/${randomUUID()}/stop`, 'POST', { headers: bearer(key) });
  await until(() => gateway.upstream.last().method === 'POST');
  const read = await exchange(`${patient.url}/v1/vision/usage`, 'GET', { headers: bearer(key) });
  expect([read.status, read.body['code']]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  answerLate();
  expect((await stopping).status).toBe(200);
});

test('a service that is not there is 503, and the gateway stays ready', async () => {
  const lonely = await gateway.addReplica({
    TASKS_URL: 'http://127.0.0.1:1',
    QUOTA_URL: 'http://no-such-host.invalid',
  });
  for (const path of ['/v1/vision/tasks', '/v1/vision/usage']) {
    const answer = await exchange(lonely.url + path, 'GET', { headers: bearer(key) });
    expect([answer.status, answer.body['code']]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  }
  expect((await exchange(`${lonely.healthUrl}/health/ready`)).status).toBe(200);
});

test('a service that refuses our own token is our fault, not that of the caller', async () => {
  gateway.upstream.answer = (_req, res) => res.writeHead(401).end();
  expect(refusal(await call('/v1/vision/tasks'))).toEqual([503, 'OP-SYS-UNAVAILABLE', 'tasks_unavailable']);
});

test('Expect: 100-continue is answered when the service goes ahead, not before', async () => {
  const refused = await wire(
    gateway.url,
    'POST /v1/vision/tasks HTTP/1.1',
    'Host: x',
    'Expect: 100-continue',
    'Content-Length: 5',
  );
  await until(() => refused.text().includes('\r\n\r\n'));
  expect(refused.text()).toMatch(/^HTTP\/1.1 401 /);
  expect(await refused.ended).not.toContain('100 Continue');
  const lines = [...head('POST', '/v1/vision/tasks'), 'Expect: 100-continue', 'Content-Length: 5', 'Connection: close'];
  const accepted = await wire(gateway.url, ...lines);
  await until(() => accepted.text().startsWith('HTTP/1.1 100 Continue\r\n'));
  accepted.socket.write('hello');
  expect(await accepted.ended).toContain('HTTP/1.1 200 ');
  expect(gateway.upstream.last().body).toBe('hello');
  gateway.upstream.goesAhead = () => false;
  const declined = await wire(gateway.url, ...lines);
  expect(await declined.ended).toMatch(/^HTTP\/1.1 400 [^]*no thanks$/);
});

/** An upload of unknown length whose pieces and end the test decides. */
function startUpload() {
  const outgoing = request(`${gateway.url}/v1/vision/video-tasks`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'multipart/form-data; boundary=x' },
  });
  outgoing.on('error', () => undefined);
  const answer = new Promise<{ status: number | undefined }>((resolve) => {
    outgoing.once('response', (reply) => resolve({ status: reply.resume().statusCode }));
  });
  return {
    answer,
    write: (chunk: Buffer) => outgoing.write(chunk),
    end: () => outgoing.end(),
    destroy: () => outgoing.destroy(),
  };
}
