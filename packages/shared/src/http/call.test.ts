import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { Agent } from 'undici';
import { recordSpans } from '../testing/recorded-spans.ts';
import { createDeadline, withDeadline } from '../upstream/deadline.ts';
import { ClientGoneError } from '../upstream/ended-call.ts';
import { factsOf } from '../upstream/upstream-facts.ts';
import { call } from './call.ts';
import type { CallRequest } from './call.ts';

const recorded = recordSpans();
let answer: RequestListener = () => undefined;
let heard: IncomingHttpHeaders = {};
const server = createServer((req, res) => {
  heard = req.headers;
  answer(req, res);
});
let url = '';

beforeAll(async () => {
  url = `http://127.0.0.1:${(await listening(server)).port}/`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await recorded.stop();
});
beforeEach(() => {
  recorded.clear();
  answer = () => undefined;
});

const ask = (more: Partial<CallRequest> = {}) =>
  call({ upstream: 'quota', operation: 'reserve', method: 'GET', url, timeoutMs: 1_000, ...more });
const told = () => recorded.spans()[0]?.attributes;

test('an answer that never comes is a timeout of its headers: span and error name upstream, limit, time and bytes', async () => {
  const attempt = { number: 1, of: 2 };
  const asked = ask({ method: 'POST', json: { units: 1 }, timeoutMs: 300, attempt, breakerState: 'half-open' });
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: 'timeout', surelyNotSent: false });
  expect(recorded.spans()[0]).toMatchObject({ name: 'quota reserve', status: { code: 2 } });
  expect(told()).toMatchObject({
    'app.upstream.name': 'quota',
    'app.upstream.operation': 'reserve',
    'error.type': 'headers_timeout',
    'app.timeout.limit_ms': 300,
    'app.attempt': 1,
    'app.attempts': 2,
    'app.breaker.state': 'half-open',
    'app.bytes_sent': 11,
    'server.address': '127.0.0.1',
  });
  expect(told()?.['app.upstream.spent_ms']).toBeGreaterThanOrEqual(295);
  const facts = {
    name: 'quota',
    error_type: 'headers_timeout',
    limit_ms: 300,
    attempt: 1,
    attempts: 2,
    bytes_sent: 11,
  };
  expect(factsOf(error)).toMatchObject(facts);
});

test('an answer that stops in the middle is a timeout of its body', async () => {
  answer = (_req, res) => void res.writeHead(200, { 'content-length': '100' }).write('{');
  await expect(ask({ timeoutMs: 300 })).rejects.toMatchObject({ reason: 'timeout' });
  expect(told()?.['error.type']).toBe('body_timeout');
});

test('a connection that does not come about in time is a timeout of its own, and nothing was received', async () => {
  const dispatcher = new Agent({ connect: () => undefined });
  const failed = { reason: 'connect_failed', surelyNotSent: true };
  await expect(ask({ method: 'POST', json: {}, timeoutMs: 50, dispatcher })).rejects.toMatchObject(failed);
  expect(told()).toMatchObject({ 'error.type': 'connect_timeout', 'app.bytes_sent': 0 });
});

test('a call for a read request ends at the deadline of the request, and reports that', async () => {
  const deadline = createDeadline(200, true);
  deadline.start();
  await withDeadline(deadline, () => expect(ask({ timeoutMs: 10_000 })).rejects.toMatchObject({ reason: 'timeout' }));
  expect(told()).toMatchObject({ 'error.type': 'deadline_exceeded' });
  expect(told()?.['app.deadline.left_ms']).toBeLessThanOrEqual(1);
  expect(Number(heard['x-deadline-ms'])).toBeLessThanOrEqual(200);
});

test('a call for a create request has its own limit, even if its caller waits for less time', async () => {
  answer = (_req, res) => void res.end('{}');
  const deadline = createDeadline(0, false);
  deadline.start();
  await withDeadline(deadline, () => ask({ timeoutMs: 5_000 }));
  expect([heard['x-deadline-ms'], told()?.['app.call.outcome']]).toEqual(['5000', 'ok']);
});

test('a client that left, and a cancel of our own, are no errors and differ', async () => {
  for (const [reason, word] of [
    [new ClientGoneError(), 'client_left'],
    [new Error('no longer needed'), 'canceled'],
  ] as const) {
    recorded.clear();
    const leaving = new AbortController();
    const calling = ask({ timeoutMs: 5_000, signal: leaving.signal });
    leaving.abort(reason);
    await expect(calling).rejects.toMatchObject({ reason: 'aborted' });
    expect(told()).toMatchObject({ 'app.call.outcome': word });
    expect([told()?.['error.type'], recorded.spans()[0]?.status]).toEqual([undefined, { code: 0 }]);
  }
});

test('a closed port and an unknown name received nothing', async () => {
  const failed = { reason: 'connect_failed', surelyNotSent: true };
  await expect(ask({ url: 'http://127.0.0.1:1/' })).rejects.toMatchObject(failed);
  const unknown = { reason: 'name_unknown', surelyNotSent: true };
  await expect(ask({ url: 'http://quota.invalid/', timeoutMs: 10_000 })).rejects.toMatchObject(unknown);
  const words = recorded.spans().map(({ attributes }) => attributes['error.type']);
  expect(words).toEqual(['connect_failed', 'name_unknown']);
});

test('a peer without the TLS it was asked for received nothing of the request', async () => {
  const peer = await listening(createTcpServer((socket) => socket.end('no TLS here')));
  const failed = { reason: 'connect_failed', surelyNotSent: true };
  await expect(ask({ method: 'POST', url: `https://127.0.0.1:${peer.port}/`, json: {} })).rejects.toMatchObject(failed);
  expect(told()?.['error.type']).toBe('tls_failed');
  peer.close();
});

test('a connection that is reset before the answer may have received all', async () => {
  const peer = await listening(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
  const failed = { reason: 'connection_lost', surelyNotSent: false };
  await expect(ask({ method: 'POST', url: `http://127.0.0.1:${peer.port}/`, json: {} })).rejects.toMatchObject(failed);
  expect(told()?.['error.type']).toBe('connection_lost');
  peer.close();
});

test('an answer 5xx is a fault of the other side, one of 4xx is an answer', async () => {
  for (const [status, word, code] of [
    [503, 'answered_5xx', 2],
    [404, 'answered_4xx', 0],
  ] as const) {
    recorded.clear();
    answer = (_req, res) => void res.writeHead(status).end('{}');
    expect(await ask()).toMatchObject({ status });
    expect(told()).toMatchObject({ 'http.response.status_code': status, 'app.call.outcome': word });
    expect(recorded.spans()[0]?.status.code).toBe(code);
  }
});

test('the upstream receives the trace, and the span nothing of path and query', async () => {
  answer = (_req, res) => void res.end('{}');
  await ask({ url: `${url}secret/cursor?cursor=secret` });
  expect(heard['traceparent']).toContain(recorded.spans()[0]?.spanContext().spanId);
  expect(JSON.stringify(recorded.spans()[0]?.attributes)).not.toContain('secret');
});

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
