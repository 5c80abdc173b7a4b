import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'undici';
import { createApp } from '../src/http/app.ts';
import { route } from '../src/http/route.ts';
import type { Method } from '../src/http/route.ts';
import { createHttpServer } from '../src/http/server.ts';
import type { HttpServer } from '../src/http/server.ts';
import { createLogger } from '../src/logger.ts';
import { activeDeadline } from '../src/upstream/deadline.ts';

let server: HttpServer;
let url = '';
let work: (signal: AbortSignal) => Promise<unknown> = () => Promise.resolve({});
const thing = (method: Method) =>
  route(
    { operation: `${method}Thing`, method, path: '/thing', summary: 'A thing', audience: 'internal', responses: {} },
    async ({ signal }) => ({ status: 200, body: await work(signal), outcome: { task_status: 'running' } }),
  );

beforeAll(async () => {
  const app = createApp({
    routes: [thing('get'), thing('post')],
    // Stands for the check of a token, which only services have.
    authenticate: (req, res, next) => {
      res.locals['isServiceCall'] = req.headers['x-is-service'] === 'yes';
      next();
    },
    logger: createLogger('test', 'silent'),
  });
  server = createHttpServer(app, { host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${await server.start()}/thing`;
});
afterAll(() => server.stop(100));

async function ask(method: 'GET' | 'POST', headers: Record<string, string>) {
  const reply = await request(url, { method, headers });
  const body = (await reply.body.json()) as { details?: { reason: string } };
  return { status: reply.statusCode, body, outcome: reply.headers['x-outcome'] };
}
const service = (deadline: number) => ({ 'x-is-service': 'yes', 'x-deadline-ms': String(deadline) });

test('a read ends with the time of the service that asks, and its work is reported', async () => {
  const told = Promise.withResolvers<unknown>();
  work = (signal) => {
    signal.addEventListener('abort', () => told.resolve(signal.reason));
    return new Promise(() => undefined);
  };
  const { status, body } = await ask('GET', service(100));
  expect([status, body.details?.reason]).toEqual([503, 'deadline_exceeded']);
  expect(await told.promise).toMatchObject({ errorType: 'deadline_exceeded', limitMs: 100 });
});

test('what changes something goes on when the time is over', async () => {
  work = async () => {
    while ((activeDeadline()?.leftMs() ?? 1) > 0) await new Promise(setImmediate);
    return { done: true };
  };
  expect(await ask('POST', service(50))).toMatchObject({ status: 200, body: { done: true } });
});

test('strangers and nonsense set no deadline', async () => {
  work = async () => ({ hasDeadline: activeDeadline() !== undefined });
  for (const headers of [{ 'x-deadline-ms': '1' }, { 'x-is-service': 'yes', 'x-deadline-ms': '-1' }, {}])
    expect(await ask('GET', headers)).toMatchObject({ status: 200, body: { hasDeadline: false } });
  expect(await ask('GET', service(5_000))).toMatchObject({ body: { hasDeadline: true } });
});

test('a service that asks receives the outcome of a request', async () => {
  work = () => Promise.resolve({});
  expect((await ask('GET', { ...service(5_000), 'x-outcome': 'wanted' })).outcome).toBe('task_status=running');
});

test('neither a stranger receives it nor a gateway of 0.2, which asks for nothing and shows all that it gets', async () => {
  work = () => Promise.resolve({});
  expect((await ask('GET', { 'x-outcome': 'wanted' })).outcome).toBeUndefined();
  expect((await ask('GET', { 'x-is-service': 'yes' })).outcome).toBeUndefined();
});
