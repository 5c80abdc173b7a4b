import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';
import { wire } from './support/wire.ts';

const recorded = recordSpans();
/** Far longer than a busy machine keeps this process, in which gateway and service are, from what is due. */
const IDLE_MS = 5_000;
let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startGateway({ UPSTREAM_IDLE_MS: String(IDLE_MS), UPSTREAM_READ_MS: String(IDLE_MS) });
  ({ key } = await gateway.newKey({ video_uploads: 5 }));
});
afterAll(async () => {
  await gateway.stop();
  await recorded.stop();
});
beforeEach(() => {
  gateway.upstream.reset();
  recorded.clear();
});

const usage = (url = gateway.url, headers = {}) =>
  exchange(`${url}/v1/vision/usage`, 'GET', { headers: { ...bearer(key), ...headers } });
const spanOf = (name: string) => until(() => recorded.spans().find((span) => span.name === name));
const upload = (bytes: number) =>
  wire(
    gateway.url,
    'POST /v1/vision/video-tasks HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    `Content-Length: ${bytes}`,
  );

test('a service that does not answer: its span says which limit ran out, and the log line says the same', async () => {
  gateway.upstream.answer = () => undefined;
  expect((await usage()).status).toBe(503);
  const { attributes, status } = await spanOf('quota getUsage');
  const told = { 'app.upstream.name': 'quota', 'error.type': 'headers_timeout', 'app.timeout.limit_ms': IDLE_MS };
  expect(attributes).toMatchObject(told);
  expect(attributes['app.deadline.left_ms']).toBeLessThanOrEqual(0);
  expect([status.code, gateway.log()]).toEqual([2, expect.stringContaining('"error_type":"headers_timeout"')]);
  expect(gateway.log()).toContain('"upstream":{"name":"quota","operation":"getUsage","error_type":"headers_timeout"');
  expect(gateway.log()).not.toContain('"upstream":{"name":"quota"}');
});

test('an answer that stops in the middle differs from one that never begins', async () => {
  gateway.upstream.answer = (_req, res) => void res.writeHead(200, { 'content-length': '100' }).write('{');
  await expect(usage()).rejects.toThrow();
  expect((await spanOf('quota getUsage')).attributes['error.type']).toBe('body_timeout');
});

test('a service that stops reading an upload differs from a client that stops sending it', async () => {
  gateway.upstream.answer = (req) => void req.pause();
  const client = await upload(100_000_000);
  client.socket.write(Buffer.alloc(30_000_000));
  const stalled = await spanOf('tasks createUploadTask');
  expect(stalled.attributes).toMatchObject({ 'error.type': 'idle_timeout', 'app.timeout.limit_ms': IDLE_MS });
  expect(Number(stalled.attributes['app.bytes_sent'])).toBeGreaterThan(1_000);
  client.socket.destroy();

  recorded.clear();
  gateway.upstream.reset();
  const slow = await upload(1_000_000);
  slow.socket.write('some');
  const { attributes, status } = await spanOf('tasks createUploadTask');
  expect(attributes).toMatchObject({ 'app.call.outcome': 'client_slow', 'app.bytes_sent': 4 });
  expect([status.code, attributes['error.type']]).toEqual([0, undefined]);
  expect(await slow.ended).toContain('body_too_slow');
});

test('a client that is cut off for its pace: the span says so, and which limit it was', async () => {
  const replica = await gateway.addReplica({ CLIENT_PACE_WINDOW_MS: '400', UPSTREAM_IDLE_MS: '120000' });
  const head = ['Host: x', `Authorization: Bearer ${key}`, 'Content-Length: 1000000'];
  const client = await wire(replica.url, 'POST /v1/vision/video-tasks HTTP/1.1', ...head);
  client.socket.write('some');
  const { attributes } = await spanOf('tasks createUploadTask');
  expect(attributes).toMatchObject({ 'app.call.outcome': 'client_slow', 'app.timeout.limit_ms': 400 });
  expect(attributes['error.type']).toBeUndefined();
  await replica.stop();
});

test('a client that left is no error of the service', async () => {
  gateway.upstream.answer = () => undefined;
  const client = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  client.write(`GET /v1/vision/usage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until(() => gateway.upstream.seen.length > 0);
  client.destroy();
  const { attributes, status } = await spanOf('quota getUsage');
  expect([attributes['app.call.outcome'], attributes['error.type'], status.code]).toEqual([
    'client_left',
    undefined,
    0,
  ]);
});

test('a lost connection and a closed port have words of their own', async () => {
  gateway.upstream.answer = (_req, res) => void res.destroy();
  expect((await usage()).status).toBe(503);
  expect((await spanOf('quota getUsage')).attributes['error.type']).toBe('connection_lost');
  recorded.clear();
  const replica = await gateway.addReplica({ QUOTA_URL: 'http://127.0.0.1:1' });
  expect((await usage(replica.url)).status).toBe(503);
  expect((await spanOf('quota getUsage')).attributes['error.type']).toBe('connect_failed');
  await replica.stop();
});

test('a service hears how long we wait, also when a stranger sends a limit, and the outcome it reports stays inside', async () => {
  gateway.upstream.answer = (_req, res) => void res.writeHead(200, { 'x-outcome': 'task_status=running' }).end('{}');
  const answer = await usage(gateway.url, { 'x-deadline-ms': '1', 'x-outcome': 'no' });
  const { rawHeaders } = gateway.upstream.last();
  expect(valuesOf(rawHeaders, 'x-deadline-ms')).toEqual([String(IDLE_MS - 250)]);
  expect(valuesOf(rawHeaders, 'x-outcome')).toEqual(['wanted']);
  expect(answer.headers.get('x-outcome')).toBeNull();
});
