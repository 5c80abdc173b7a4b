import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentObject, SegmentStore } from '../src/clients/segment-store.ts';
import { checksumOf, pack } from '@vision/contracts/segments/pack';

const body = pack(Buffer.from('objects of frames '.repeat(100)), 'small');
const object: SegmentObject = { objectKey: 'segments/one', bytes: body.length, checksum: checksumOf(body) };
const short = body.subarray(0, body.length / 2);
/** Of the right length, with a wrong byte after the header. */
const wrong = Buffer.from(body.map((byte, index) => (index === body.length - 1 ? byte ^ 1 : byte)));

let server: Server;
let store: SegmentStore;
afterEach(async () => {
  store.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

type Reply = Buffer | 503 | Promise<Buffer>;

/** A store that returns these replies one after the other, and repeats the last one. Each is complete for HTTP. */
async function startStore(...replies: [Reply, ...Reply[]]): Promise<{ gets: () => number }> {
  let gets = 0;
  const answer = async (res: ServerResponse) => {
    const reply = await (replies[Math.min(gets++, replies.length - 1)] ?? 503);
    if (reply === 503) res.writeHead(503).end();
    else res.writeHead(200, { 'content-length': reply.length, etag: '"1"' }).end(reply);
  };
  server = createServer((_req, res) => void answer(res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const access = { region: 'us-east-1', bucket: 'frames', accessKey: 'key', secretKey: 'secret' };
  store = createSegmentStore({ endpoint: `http://127.0.0.1:${port}`, ...access });
  return { gets: () => gets };
}

test.each([
  ['short', short],
  ['wrong', wrong],
])('a %s answer is fetched again, and only what matches the index is cached', async (_how, damaged) => {
  const { gets } = await startStore(damaged, body);
  await expect(store.get(object)).resolves.toEqual(body);
  await expect(store.get(object)).resolves.toEqual(body);
  expect(gets()).toBe(2);
});

test('an object that stays damaged is reported as damaged, and requested again by the next reader', async () => {
  const { gets } = await startStore(short, short, body);
  await expect(store.get(object)).rejects.toMatchObject({ name: 'SegmentDamagedError' });
  expect(gets()).toBe(2);
  await expect(store.get(object)).resolves.toEqual(body);
});

test('many readers of one object at once are one request to the store', async () => {
  const reply = Promise.withResolvers<Buffer>();
  const { gets } = await startStore(reply.promise);
  // More than the limits of concurrent and waiting fetches allow together.
  const reads = Array.from({ length: 200 }, () => store.get(object));
  await until(() => gets() === 1);
  reply.resolve(body);
  const settled = await Promise.allSettled(reads);
  expect(settled.filter((read) => read.status === 'fulfilled' && read.value.equals(body))).toHaveLength(200);
  expect(gets()).toBe(1);
});

test('a failure reaches all readers that wait for it and is not cached', async () => {
  const { gets } = await startStore(503, body);
  const reads = await Promise.allSettled([store.get(object), store.get(object)]);
  expect(reads).toMatchObject([1, 2].map(() => ({ reason: { reason: 'object_store_unavailable' } })));
  await expect(store.get(object)).resolves.toEqual(body);
  expect(gets()).toBe(2);
});

test('a reader that gives up does not end the request that others wait for', async () => {
  const reply = Promise.withResolvers<Buffer>();
  const { gets } = await startStore(reply.promise);
  const leaving = new AbortController();
  const left = store.get(object, leaving.signal);
  const stays = store.get(object);
  await until(() => gets() === 1);
  leaving.abort(new Error('client left'));
  await expect(left).rejects.toThrow('client left');
  reply.resolve(body);
  await expect(stays).resolves.toEqual(body);
  expect(gets()).toBe(1);
});
