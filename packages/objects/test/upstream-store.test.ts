import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { createObjectStore } from '../src/object-store.ts';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { ClientGoneError } from '@vision/shared/upstream/ended-call';
import { factsOf } from '@vision/shared/upstream/upstream-facts';

const recorded = recordSpans();
afterAll(() => recorded.stop());
beforeEach(() => recorded.clear());

// Only the limit that a test is about is near: a busy machine must not be the one that decides.
const LIMITS = { idleMs: 60_000, deadlineMs: 120_000 };

const storeAt = (port: number, limits = LIMITS) =>
  createObjectStore({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu',
    bucket: 'things',
    accessKey: 'key',
    secretKey: 'secret',
    ...limits,
  });

/** A peer that accepts connections and does with them what the test says. */
async function peer(serve: (socket: Socket) => void, limits = LIMITS) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store = storeAt((server.address() as AddressInfo).port, limits);
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    store.close();
  };
  return { store, close };
}

const told = (name: string) => recorded.spans().find((span) => span.name === name)?.attributes;

test('a store that takes a request and never answers is silent too long, with any limit of the whole call', async () => {
  const { store, close } = await peer((socket) => socket.resume(), { ...LIMITS, idleMs: 300 });
  const error: unknown = await store.stat('a/b').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: 'object_store_unavailable' });
  const span = { 'app.upstream.name': 's3', 'error.type': 'idle_timeout', 'app.timeout.limit_ms': 300 };
  expect(told('s3 stat')).toMatchObject(span);
  expect(factsOf(error)).toMatchObject({ name: 's3', operation: 'stat', error_type: 'idle_timeout', limit_ms: 300 });
  close();
});

test('a store that drips its answer meets the limit of the whole call', async () => {
  const drip = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('X-Drip: 1\r\n'), 50);
    socket.once('close', () => clearInterval(timer));
  };
  const { store, close } = await peer(drip, { ...LIMITS, deadlineMs: 600 });
  await expect(store.stat('a/b')).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(told('s3 stat')).toMatchObject({ 'error.type': 'total_timeout', 'app.timeout.limit_ms': 600 });
  close();
});

test('a store that stops reading in the middle of an image: the span says how much it was sent', async () => {
  const { store, close } = await peer((socket) => socket.once('data', () => socket.pause()), {
    ...LIMITS,
    idleMs: 3_000,
  });
  const bytes = 8 * 1024 * 1024;
  const known = { bytes, sha256: '0'.repeat(64), crc32: 0 };
  const body = Readable.from([Buffer.alloc(bytes)]);
  await expect(store.put({ key: 'a', body, contentType: 'image/png', known })).rejects.toThrow();
  const span = told('s3 put');
  expect(span).toMatchObject({ 'error.type': 'idle_timeout', 'app.timeout.limit_ms': 3_000 });
  expect(Number(span?.['app.bytes_sent'])).toBeGreaterThan(1_000);
  close();
});

test('a client that left and a cancel of our own end a call to the store without an error', async () => {
  const { store, close } = await peer((socket) => socket.resume());
  for (const [reason, word] of [
    [new ClientGoneError(), 'client_left'],
    [new Error('not needed'), 'canceled'],
  ] as const) {
    recorded.clear();
    const leaving = new AbortController();
    const putting = store.put({ key: 'a', body: Buffer.alloc(10), contentType: 'image/png', signal: leaving.signal });
    leaving.abort(reason);
    await expect(putting).rejects.toBe(reason);
    expect([told('s3 put')?.['app.call.outcome'], told('s3 put')?.['error.type']]).toEqual([word, undefined]);
  }
  close();
});

test('a body that breaks off on its way to the store is no fault of the store', async () => {
  const { store, close } = await peer((socket) => socket.resume());
  const body = new PassThrough();
  body.write('the first bytes');
  const putting = store.put({ key: 'a', body, contentType: 'video/mp4' });
  setImmediate(() => body.destroy(new Error('the client left')));
  await expect(putting).rejects.toThrow('the client left');
  const span = told('s3 put_parts');
  expect([span?.['app.call.outcome'], span?.['error.type']]).toEqual(['canceled', undefined]);
  close();
});

test('the requests of an upload that share a connection are counted once each', async () => {
  const server = createHttpServer((req, res) => {
    const begins = req.url?.includes('uploads') === true;
    const reply = begins
      ? '<InitiateMultipartUploadResult><UploadId>first</UploadId></InitiateMultipartUploadResult>'
      : '<CompleteMultipartUploadResult><Location>l</Location><Bucket>b</Bucket><Key>a</Key><ETag>"1"</ETag></CompleteMultipartUploadResult>';
    req.resume().once('end', () => {
      const size = req.method === 'HEAD' ? { 'content-length': 100_000 } : {};
      res.writeHead(200, Object.assign(size, { etag: '"1"' })).end(req.method === 'POST' ? reply : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store = storeAt((server.address() as AddressInfo).port);
  await store.put({ key: 'a', body: Readable.from([Buffer.alloc(100_000)]), contentType: 'video/mp4' });
  const sent = Number(told('s3 put_parts')?.['app.bytes_sent']);
  expect(sent).toBeGreaterThan(100_000);
  expect(sent).toBeLessThan(110_000);
  store.close();
  server.close();
});

test('no span of the store holds a key of an object', async () => {
  const { store, close } = await peer((socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'));
  await store.stat('secret/file-name.mp4');
  expect(recorded.spans().length).toBeGreaterThan(0);
  expect(JSON.stringify(recorded.spans().map(({ name, attributes }) => [name, attributes]))).not.toContain('secret');
  close();
});
