import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json as parseJson } from 'node:stream/consumers';
import { z } from 'zod';
import { createApp } from '../src/http/app.ts';
import { route } from '../src/http/route.ts';
import { createHttpServer } from '../src/http/server.ts';
import { createServiceAccess } from '../src/http/service-access.ts';
import { createLogger } from '../src/logger.ts';
import { servicePublicKeysConfig } from '../src/service-keys.ts';
import { testPublicKeys, testToken } from '../src/testing/service-keys.ts';
import { until } from '../src/testing/until.ts';

const lines: string[] = [];
const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
const echo = route(
  {
    operation: 'echo',
    method: 'post',
    path: '/things/{id}',
    summary: 'Echo',
    audience: 'internal',
    params: z.object({ id: z.uuid() }),
    body: z.strictObject({ text: z.string().min(1) }),
    responses: { 200: { description: 'The text', schema: z.object({ text: z.string(), subject: z.string() }) } },
  },
  async ({ body, caller }) => ({ status: 200, body: { text: body.text, subject: caller.subject, hidden: 'no' } }),
);
const broken = route(
  { operation: 'broken', method: 'get', path: '/broken', summary: 'Broken', audience: 'internal', responses: {} },
  async () => {
    throw new Error('secret detail');
  },
);
const patient = route(
  { operation: 'patient', method: 'get', path: '/patient', summary: 'Waits', audience: 'internal', responses: {} },
  ({ signal }) => {
    isWaiting = true;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  },
);
let isWaiting = false;
const keyed = route(
  {
    operation: 'keyed',
    method: 'get',
    path: '/keyed',
    summary: 'Keyed',
    audience: 'internal',
    responses: { 200: { description: 'Key' } },
  },
  async () => ({ status: 200, body: 'key' }),
);
const open = route(
  {
    operation: 'open',
    method: 'get',
    path: '/open',
    summary: 'Needs no caller',
    audience: 'internal',
    authenticated: false,
    responses: { 200: { description: 'Done' } },
  },
  async () => ({ status: 200, body: {} }),
);
const careless = route(
  { ...open.definition, operation: 'careless', path: '/careless', summary: 'Asks for the caller it cannot have' },
  async ({ caller }) => ({ status: 200, body: { caller } }),
);
const strict = route(
  { ...keyed.definition, operation: 'strict', path: '/strict', audience: 'public', summary: 'Takes no input' },
  async () => ({ status: 200, body: {} }),
);
const publicKeys = servicePublicKeysConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys);
const app = createApp({
  routes: [echo, broken, patient, open, careless, strict],
  authenticate: createServiceAccess({ callee: 'quota', publicKeys, logger }).authenticate,
  logger,
});
const server = createHttpServer(app, { host: '127.0.0.1', port: 0 });
const id = '018f0000-0000-7000-8000-000000000000';
let base = '';
let port = 0;
let token = '';

beforeAll(async () => {
  port = await server.start();
  base = `http://127.0.0.1:${port}`;
  token = await testToken('gateway', 'quota', { subject: 's1' });
});
afterAll(() => server.stop(100));

const post = (body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}) =>
  fetch(`${base}/things/${id}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
const problemOf = async (reply: Response) =>
  (await reply.json()) as { code?: string; status: number; details: { reason: string; field?: string } };

test('a route answers with exactly the declared fields', async () => {
  const reply = await post('{"text":"hi"}');
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({ text: 'hi', subject: 's1' });
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test.each<[string, string, string | undefined, unknown]>([
  ['a query parameter', '?colour=red', undefined, [400, 'unknown_field', 'colour']],
  ['a parameter without a value', '?colour', undefined, [400, 'unknown_field', 'colour']],
  ['a field behind GET', '', '{"colour":"red"}', [400, 'unknown_field', 'colour']],
  ['a body that is no JSON object', '', '[1]', [400, 'body_invalid', undefined]],
  ['an empty query', '?', undefined, [200, undefined, undefined]],
  ['an empty JSON object', '', '{}', [200, undefined, undefined]],
])('a public operation without input and %s', async (_name, query, body, expected) => {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-length': body.length } : {}) };
  request(`${base}/strict${query}`, { headers }, resolve).end(body);
  const reply = await promise;
  const { details } = (await parseJson(reply)) as { details?: { reason: string; field?: string } };
  expect([reply.statusCode, details?.reason, details?.field]).toEqual(expected);
});

test('a call without, with a forged or with a foreign token is 401', async () => {
  const foreign = await testToken('gateway', 'tasks', { subject: 's1' });
  const forged = token.replace(/[^.]+$/, foreign.split('.')[2] ?? '');
  for (const value of ['', 'Bearer', `Bearer ${foreign}`, `Bearer ${forged}`, `Basic ${token}`]) {
    const reply = await post('{"text":"hi"}', { authorization: value });
    expect([value, reply.status, reply.headers.get('www-authenticate')]).toEqual([value, 401, 'Bearer']);
    expect((await problemOf(reply)).code).toBe('OP-AUTH-REQUIRED');
  }
});

test.each([
  ['an empty body', '', 'json_invalid'],
  ['null', 'null', 'body_invalid'],
  ['a trailing comma', '{"text":"a",}', 'json_invalid'],
  ['a byte order mark', '\ufeff{"text":"a"}', 'json_invalid'],
  ['an unknown field', '{"text":"a","more":1}', 'unknown_field'],
  ['a wrong type', '{"text":5}', 'body_invalid'],
  ['fifty thousand nested arrays', '['.repeat(30_000) + ']'.repeat(30_000), 'body_invalid'],
  ['more than 64 KiB', JSON.stringify({ text: 'a'.repeat(70_000) }), 'body_too_large'],
])('%s is refused with 400', async (_name, body, reason) => {
  const reply = await post(body);
  const problem = await problemOf(reply);
  expect([reply.status, problem.code, problem.details.reason]).toEqual([400, 'OP-TASK-REQUEST-INVALID', reason]);
});

test('bytes that are not UTF-8 are refused, not replaced', async () => {
  const reply = await post(Buffer.from([0x7b, 0x22, 0x74, 0x65, 0x78, 0x74, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]));
  expect((await problemOf(reply)).details.reason).toBe('json_invalid');
});

test.each(['text/plain', 'application/json; charset=utf-16', 'application/problem+json'])(
  'Content-Type %s is refused with 400',
  async (type) => {
    const reply = await post('{"text":"a"}', { 'content-type': type });
    expect((await problemOf(reply)).details).toEqual({ reason: 'content_type_invalid', field: 'Content-Type' });
  },
);

test('a route without authentication cannot read a caller', async () => {
  expect((await fetch(`${base}/open`)).status).toBe(200);
  expect((await fetch(`${base}/careless`)).status).toBe(500);
  expect(lines.some((line) => line.includes('careless asks for its caller'))).toBe(true);
});

test.each([
  ['an answer', '/open', 200],
  ['a refusal', '/nowhere', 401],
  ['a fault of ours', '/careless', 500],
])('%s carries a trace id, and a problem document the same one', async (_name, path, status) => {
  const reply = await fetch(base + path);
  const body = (await reply.json()) as { trace_id?: string };
  const traceId = reply.headers.get('x-trace-id');
  expect([reply.status, traceId]).toEqual([status, expect.stringMatching(/^[0-9a-f]{32}$/)]);
  if (status !== 200) expect(body.trace_id).toBe(traceId);
});

test('an id of another form is 404, an unknown path 404, another method 405 with Allow', async () => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const badId = await fetch(`${base}/things/1`, { method: 'POST', headers, body: '{"text":"a"}' });
  const nowhere = await fetch(`${base}/nowhere`, { headers });
  const method = await fetch(`${base}/things/${id}`, { method: 'DELETE', headers });
  expect([badId.status, nowhere.status, method.status, method.headers.get('allow')]).toEqual([404, 404, 405, 'POST']);
  expect((await problemOf(nowhere)).code).toBeUndefined();
});

test('a fault of ours is 500, tells nothing, and is logged as an error', async () => {
  const reply = await fetch(`${base}/broken`, { headers: { authorization: `Bearer ${token}` } });
  const text = await reply.text();
  expect(reply.status).toBe(500);
  expect(text).not.toContain('secret detail');
  expect(lines.some((line) => line.includes('secret detail') && line.includes('"level":"error"'))).toBe(true);
});

test('a caller that leaves is no error of ours', async () => {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const reply = fetch(`${base}/patient`, { headers, signal: controller.signal });
  await until(() => isWaiting);
  controller.abort();
  await expect(reply).rejects.toThrow();
  const line = await until(() => lines.find((entry) => entry.includes('/patient')));
  expect(JSON.parse(line)).toMatchObject({ level: 'info', msg: 'client disconnected before the response' });
});

test.each(['/things/%zz', '/%', '/%ff'])(
  'the malformed percent-encoding of %s is 400, for known callers only',
  async (path) => {
    const reply = await fetch(base + path, { headers: { authorization: `Bearer ${token}` } });
    expect((await problemOf(reply)).details.reason).toBe('path_malformed');
    expect(reply.status).toBe(400);
    expect((await fetch(base + path)).status).toBe(401);
  },
);

test.each(['/keyed/', '/KEYED', `/things/${id}/`])('%s is another path than the one without', async (path) => {
  expect((await fetch(base + path, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
});

test('the go-ahead for a body comes when it is read, and never to a request that is refused by its head', async () => {
  const head = (type: string) =>
    `POST /things/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\n` +
    'Content-Length: 14\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';
  expect(await raw(head('text/plain'))).toMatch(/^HTTP\/1.1 400 /);
  const answer = await raw(head('application/json'), { onContinue: '{"text":"hey"}' });
  expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
});

test('a refusal in the middle of a large body reaches the client before the body ends', async () => {
  const socket = connect(port, '127.0.0.1');
  const first = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
  socket.write(
    `POST /nowhere HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 50000000\r\n\r\n${'a'.repeat(65_536)}`,
  );
  expect(await first).toContain('HTTP/1.1 404');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.end();
  await closed;
});

function raw(request: string, { onContinue = '' } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(onContinue);
    });
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}
