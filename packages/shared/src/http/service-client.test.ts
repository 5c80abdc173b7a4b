import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { defineQuestion } from '@vision/contracts/question';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { createLogger } from '../logger.ts';
import { testSigner } from '../testing/service-keys.ts';
import { toProblem } from './problem.ts';
import { createServiceClient } from './service-client.ts';
import type { ServiceClient } from './service-client.ts';

const getThing = defineQuestion({
  method: 'get',
  path: '/internal/v1/things/{thing_id}',
  params: z.object({ thing_id: z.string() }),
  query: z.object({ limit: z.coerce.number() }),
  reply: z.object({ colour: z.string() }),
  refusals: ['not_found'],
});
const paintThing = defineQuestion({
  method: 'post',
  path: '/internal/v1/things',
  body: z.object({ colour: z.string() }),
  reply: z.object({ colour: z.string() }),
});

let reply: { status: number; body: unknown; headers?: Record<string, string> };
let asked: { line: string; body: string } | undefined;
const server = createServer((req, res) => {
  void text(req).then((body) => {
    asked = { line: `${req.method} ${req.url}`, body };
    res.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    res.end(JSON.stringify(reply.body));
  });
});
const lines: Record<string, unknown>[] = [];
const logger = createLogger('test', 'error', {
  write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
});
let client: ServiceClient;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createServiceClient({ baseUrl, audience: 'quota', signer: testSigner('tasks'), timeoutMs: 5_000, logger });
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  lines.length = 0;
});

const asking = { subject: 's', params: { thing_id: 'a/b' }, query: { limit: 5 } };
const refusing = (error: AppError) => {
  const body = toProblem(error, { requestId: 'id', traceId: '' });
  reply = { status: body.status, body };
};

test('path, query and body are built from the question, and what the reply has besides is ignored', async () => {
  reply = { status: 200, body: { colour: 'red', of_a_later_version: true } };
  expect(await client.ask(getThing, asking)).toEqual({ colour: 'red' });
  expect(asked).toEqual({ line: 'GET /internal/v1/things/a%2Fb?limit=5', body: '' });
  await client.ask(paintThing, { subject: 's', body: { colour: 'blue' } });
  expect(asked).toEqual({ line: 'POST /internal/v1/things', body: '{"colour":"blue"}' });
});

test('a refusal that the question foresees is thrown as it was said', async () => {
  refusing(fail.notFound('There is no such thing.', 'task_not_found'));
  await expect(client.ask(getThing, asking)).rejects.toMatchObject({ kind: 'not_found', reason: 'task_not_found' });
  expect(lines).toEqual([]);
});

test.each([
  ['invalid', fail.requestInvalid('body_invalid', 'idempotency_key: Invalid UUID.', { field: 'idempotency_key' })],
  ['not found', fail.notFound('There is no such thing.')],
  ['conflict', fail.conflict('key_ended', 'It differs.')],
  ['exhausted', fail.rateLimited('rate_exceeded', 3)],
  ['unauthenticated', fail.authRequired('service_token_invalid')],
])('a refusal that is not foreseen (%s) is our own fault and an error in the log', async (_what, error) => {
  refusing(error);
  const asked = client.ask(paintThing, { subject: 's', body: { colour: 'blue' } });
  const shown = { kind: 'unavailable', code: 'OP-SYS-UNAVAILABLE', reason: 'quota_unavailable', details: {} };
  await expect(asked).rejects.toMatchObject(shown);
  expect(lines).toMatchObject([
    {
      level: 'error',
      upstream: { name: 'quota' },
      path: '/internal/v1/things',
      status: reply.status,
      reason: error.reason,
    },
  ]);
});

test('so is a reply that is not the one of the contract', async () => {
  reply = { status: 200, body: { nonsense: true } };
  await expect(client.ask(getThing, asking)).rejects.toMatchObject({ code: 'OP-SYS-UNAVAILABLE' });
  expect(lines).toMatchObject([{ status: 200 }]);
});

test('what another service says about being away is passed on', async () => {
  refusing(fail.sysUnavailable('database_unavailable'));
  reply.headers = { 'retry-after': '7' };
  const shown = { code: 'OP-SYS-UNAVAILABLE', reason: 'database_unavailable', retryAfterS: 7 };
  await expect(client.ask(getThing, asking)).rejects.toMatchObject(shown);
  reply = { status: 500, body: {} };
  await expect(client.ask(getThing, asking)).rejects.toMatchObject({ code: 'OP-SYS-UNAVAILABLE' });
  expect(lines).toEqual([]);
});
