import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { adminToken, bearer, exchange, startGateway } from './support/gateway.ts';
import type { Replica, TestGateway } from './support/gateway.ts';
import { wire } from './support/wire.ts';
import type { Wire } from './support/wire.ts';

const WINDOW_MS = 1000;
const SECRET_TASK = '01890000-0000-7000-8000-000000000000';

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startGateway({ CLIENT_PACE_WINDOW_MS: String(WINDOW_MS) });
  ({ key } = await gateway.newKey({ video_uploads: 1 }));
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const head = (method: string, path: string) => [
  `${method} ${path} HTTP/1.1`,
  'Host: x',
  `Authorization: Bearer ${key}`,
];
const cuts = (reason: string) => gateway.log().split(`"reason":"${reason}","msg":"a connection was cut"`).length - 1;

/** Writes one piece again and again until the other side ends the connection. */
async function drip({ socket }: Wire, piece: string, everyMs: number): Promise<void> {
  while (!socket.destroyed) {
    socket.write(piece);
    await pause(everyMs);
  }
}

/** Streams a response without end, as fast as it is read. */
function endlessAnswer(req: IncomingMessage, res: NodeJS.WritableStream): void {
  const more = () => {
    while (res.writable && res.write(Buffer.alloc(64 * 1024)));
  };
  req.resume();
  res.on('drain', more);
  more();
}

test('an upload that drips is cut, and its slot and its upstream request end with it', async () => {
  const before = cuts('slow_upload');
  const upload = await wire(gateway.url, ...head('POST', '/v1/vision/video-tasks'), 'Content-Length: 1000000');
  await Promise.all([drip(upload, 'x', 50), upload.ended]);
  expect(cuts('slow_upload')).toBe(before + 1);
  await until(() => gateway.upstream.last().isCut);
  const next = await exchange(`${gateway.url}/v1/vision/video-tasks`, 'POST', { headers: bearer(key), body: 'x' });
  expect(next.status).toBe(200);
});

test('an unexpected body may not drip either, nor one to the admin API', async () => {
  for (const [url, line, token] of [
    [gateway.url, 'GET /api/op/v1/scenes', key],
    [gateway.adminUrl, 'PUT /admin/v1/maintenance', adminToken],
  ] as const) {
    const lines = ['Host: x', `Authorization: Bearer ${token}`, 'Content-Type: application/json'];
    const slow = await wire(url, `${line} HTTP/1.1`, ...lines, 'Content-Length: 60000');
    await Promise.all([drip(slow, ' ', 50), slow.ended]);
  }
});

test('a client that never reads a page of results is cut, and the service is let go', async () => {
  gateway.upstream.answer = endlessAnswer;
  const before = cuts('slow_reader');
  const reader = await wire(gateway.url, ...head('GET', `/v1/vision/tasks/${SECRET_TASK}/results`));
  reader.socket.pause();
  await until(() => cuts('slow_reader') === before + 1);
  await until(() => gateway.upstream.last().isCut);
  reader.socket.destroy();
});

test('a client that never reads the documentation is cut', async () => {
  const before = cuts('slow_reader');
  const line = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';
  const reader = await wire(gateway.url);
  reader.socket.pause();
  reader.socket.write(line.repeat(20));
  await until(() => cuts('slow_reader') === before + 1);
  reader.socket.destroy();
});

test('an idle connection is kept, and so is one that waits for our answer', async () => {
  const idle = await wire(gateway.url, ...head('GET', '/api/op/v1/scenes'));
  let answerLate = () => undefined as unknown;
  gateway.upstream.answer = (req, res) => {
    req.resume();
    answerLate = () => res.writeHead(200, { 'content-length': '4' }).end('late');
  };
  const waiting = await wire(
    gateway.url,
    ...head('POST', `/v1/vision/tasks/${SECRET_TASK}/stop`),
    'Content-Length: 0',
    'Connection: close',
  );
  await until(() => gateway.upstream.seen.length === 1);
  await pause(3 * WINDOW_MS);
  answerLate();
  expect(await waiting.ended).toMatch(/late$/);
  idle.socket.write(`${head('GET', '/api/op/v1/scenes').join('\r\n')}\r\nConnection: close\r\n\r\n`);
  expect((await idle.ended).match(/HTTP\/1.1 200/g)).toHaveLength(2);
});

test('a client is not blamed for a service that does not read its upload', async () => {
  const before = cuts('slow_upload');
  let readOn = () => undefined as unknown;
  gateway.upstream.answer = (req, res) => {
    req.pause();
    readOn = () => req.resume().on('end', () => res.writeHead(200, { 'content-length': '4' }).end('done'));
  };
  const upload = await wire(
    gateway.url,
    ...head('POST', '/v1/vision/video-tasks'),
    'Content-Length: 30000000',
    'Connection: close',
  );
  upload.socket.write(Buffer.alloc(30_000_000));
  await until(() => gateway.upstream.seen.length === 1);
  await pause(4 * WINDOW_MS);
  readOn();
  expect(await upload.ended).toMatch(/done$/);
  expect(cuts('slow_upload')).toBe(before);
});

test('who takes a large answer at a modest pace gets all of it', async () => {
  // Three windows long, and each of them far longer than this process is held up by others.
  const size = 10_000_000;
  const { url } = await gateway.addReplica({ CLIENT_PACE_WINDOW_MS: '5000' });
  gateway.upstream.answer = (req, res) => {
    req.resume();
    res.writeHead(200, { 'content-length': String(size) }).end(Buffer.alloc(size));
  };
  const reader = await wire(url, ...head('GET', '/v1/vision/usage'), 'Connection: close');
  let taken = 0;
  reader.socket.on('data', (chunk: Buffer) => {
    taken += chunk.length;
    reader.socket.pause();
    setTimeout(() => reader.socket.resume(), 100);
  });
  await reader.ended;
  expect(taken).toBeGreaterThan(size);
});

async function limited(env: Record<string, string>): Promise<Replica> {
  return gateway.addReplica({ CLIENT_PACE_WINDOW_MS: String(WINDOW_MS), ...env });
}

test('a body and an answer without an end stop at their time limits', async () => {
  const { url } = await limited({ BODY_TIMEOUT_MS: '1500', ANSWER_TIMEOUT_MS: '1500' });
  const upload = await wire(url, ...head('POST', '/v1/vision/video-tasks'), 'Content-Length: 100000000');
  await Promise.all([drip(upload, 'x'.repeat(20_000), 50), upload.ended]);
  expect(cuts('body_timeout')).toBe(1);
  gateway.upstream.answer = endlessAnswer;
  const reader = await wire(url, ...head('GET', '/v1/vision/usage'));
  await reader.ended;
  expect(cuts('answer_timeout')).toBe(1);
});

test('a head that does not arrive ends its connection, and silence from the start does too', async () => {
  const { url } = await limited({ HEAD_TIMEOUT_MS: '600' });
  const silent = await wire(url);
  const partial = await wire(url);
  partial.socket.write('GET /openapi.json HTTP/1.1\r\nX-Slow: ');
  await Promise.all([drip(partial, 'x', 50), partial.ended, silent.ended]);
  expect(cuts('head_timeout')).toBe(2);
});

test('requests that are sent behind one another are worked on one at a time and answered in order', async () => {
  const most = { now: 0, seen: 0 };
  gateway.upstream.answer = (req, res) => {
    most.now += 1;
    most.seen = Math.max(most.seen, most.now);
    req.resume();
    setTimeout(() => {
      most.now -= 1;
      res.writeHead(200, { 'content-length': '6' }).end(req.url?.slice(-6));
    }, 20);
  };
  const ask = (at: number) =>
    head('GET', `/v1/vision/tasks?limit=${10 + at}`).join('\r\n') + (at === 29 ? '\r\nConnection: close' : '');
  const client = await wire(gateway.url);
  client.socket.write(Array.from({ length: 30 }, (_, at) => `${ask(at)}\r\n\r\n`).join(''));
  const answered = [...(await client.ended).matchAll(/imit=(\d\d)|mit=(\d\d)/g)].map(([text]) => text.slice(-2));
  expect(answered).toEqual(Array.from({ length: 30 }, (_, at) => String(10 + at)));
  expect(most.seen).toBe(1);
});

test('who sends a thousand requests without waiting for an answer loses the connection, and nothing else is worked on', async () => {
  const before = cuts('too_many_pipelined');
  let finish = () => undefined as unknown;
  gateway.upstream.answer = (req, res) => {
    req.resume();
    finish = () => res.writeHead(200, { 'content-length': '0' }).end();
  };
  const client = await wire(gateway.url);
  client.socket.write(`${head('GET', '/v1/vision/tasks').join('\r\n')}\r\n\r\n`.repeat(1_000));
  await client.ended;
  expect(cuts('too_many_pipelined')).toBe(before + 1);
  finish();
  expect(gateway.upstream.seen.length).toBeLessThanOrEqual(1);
});

test('one address has so many connections and no more; those of a trusted proxy are not counted', async () => {
  const { url } = await limited({ MAX_CONNECTIONS_PER_CLIENT: '3', HEAD_TIMEOUT_MS: '600000' });
  const kept = [await wire(url), await wire(url), await wire(url)];
  const refused = await wire(url).then(
    ({ ended }) => ended,
    (error: unknown) => String(error),
  );
  expect(refused).toMatch(/^$|ECONNRESET/);
  expect(cuts('too_many_connections')).toBe(1);
  kept[0]?.socket.destroy();
  await until(async () => (await exchange(`${url}/openapi.json`)).status === 200);
  const behindProxy = await limited({ MAX_CONNECTIONS_PER_CLIENT: '3', TRUSTED_PROXIES: 'loopback' });
  const many = await Promise.all(Array.from({ length: 8 }, () => wire(behindProxy.url)));
  expect((await exchange(`${behindProxy.url}/openapi.json`)).status).toBe(200);
  for (const { socket } of [...kept, ...many]) socket.destroy();
});
