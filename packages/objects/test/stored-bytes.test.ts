import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { afterEach, expect, test } from '@jest/globals';
import { createObjectStore } from '../src/object-store.ts';
import type { ObjectStore } from '../src/object-store.ts';
import { PART_BYTES } from '../src/uploads.ts';

const body = randomBytes(1_000);
/** Far more than the buffers of a connection hold. */
const MOST_SENT = 512 * 1024 * 1024;
const half = body.subarray(0, 500);
const md5Of = (bytes: Buffer, encoding: 'hex' | 'base64') => createHash('md5').update(bytes).digest(encoding);

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

async function scripted(answer: RequestListener): Promise<ObjectStore> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = { accessKey: 'access', secretKey: 'secret-key' };
  const store = createObjectStore({ endpoint, region: 'us-east-1', bucket: 'vision', ...keys });
  closing.push(() => {
    store.close();
    server.close();
    server.closeAllConnections();
  });
  return store;
}

/** A store that answers an upload with this entity tag, and a download with these bytes. */
async function answering(etag: string, bytes: Buffer): Promise<{ store: ObjectStore; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const store = await scripted((req, res) => {
    asked.push(req);
    if (req.method === 'GET') res.end(bytes);
    else req.resume().once('end', () => res.writeHead(200, { etag: `"${etag}"` }).end());
  });
  return { store, asked };
}
/** The answer to a HEAD, with an entity tag that is no checksum but looks like one. */
const factsOf = (bytes: number) => ({
  'content-length': bytes,
  etag: '"0123456789abcdef0123456789abcdef"',
  'last-modified': new Date().toUTCString(),
});
const put = (store: ObjectStore) => store.put({ key: 'segment', body, contentType: 'application/octet-stream' });

test('a store that keeps half of a buffer and answers 200 fails the upload', async () => {
  const { store } = await answering(md5Of(half, 'hex'), half);
  await expect(put(store)).rejects.toMatchObject({ reason: 'object_store_unavailable' });
});

test('a buffer goes with its checksums, and an answer that confirms it needs no second request', async () => {
  const { store, asked } = await answering(md5Of(body, 'hex'), body);
  await put(store);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.headers['content-md5']).toBe(md5Of(body, 'base64'));
  expect(asked[0]?.headers['x-amz-checksum-crc32']).toHaveLength(8);
});

test('a stream of known content goes with its checksum, and fails when the store tells another one', async () => {
  const sent: unknown[] = [];
  let stored = '';
  const store = await scripted((req, res) => {
    sent.push(req.headers['x-amz-checksum-crc32']);
    req.resume().once('end', () => res.writeHead(200, { 'x-amz-checksum-crc32': stored }).end());
  });
  const sha256 = createHash('sha256').update(body).digest('hex');
  const known = { bytes: body.length, sha256, crc32: crc32(body) };
  const put = () => store.put({ key: 'picture', body: Readable.from([body]), contentType: 'image/png', known });
  const other = put();
  stored = 'AAAAAA==';
  await expect(other).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  stored = String(sent[0]);
  expect(Buffer.from(stored, 'base64').readUInt32BE()).toBe(crc32(body));
  await put();
});

test('a stream of known content that the store keeps half of and answers 200 fails, without a checksum too', async () => {
  const asked: unknown[] = [];
  let bytes = half.length;
  const store = await scripted((req, res) => {
    asked.push(req.method);
    req.resume().once('end', () => res.writeHead(200, req.method === 'HEAD' ? factsOf(bytes) : {}).end());
  });
  const known = { bytes: body.length, sha256: createHash('sha256').update(body).digest('hex'), crc32: crc32(body) };
  const put = () => store.put({ key: 'image', body: Readable.from([body]), contentType: 'image/png', known });
  await expect(put()).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  bytes = body.length;
  await put();
  expect(asked).toEqual(['PUT', 'HEAD', 'PUT', 'HEAD']);
});

/** A store that takes an upload in parts, and says afterwards that its object has this size. */
async function takingParts(bytes: number): Promise<{ store: ObjectStore; parts: unknown[] }> {
  const parts: unknown[] = [];
  const store = await scripted((req, res) => {
    req.resume().once('end', () => {
      if (req.method === 'PUT') parts.push(req.headers['content-md5']);
      if (req.method === 'HEAD') return res.writeHead(200, factsOf(bytes)).end();
      const about = '<Location>vision/video</Location><Bucket>vision</Bucket><Key>video</Key>';
      const begun = `<InitiateMultipartUploadResult>${about}<UploadId>an-upload</UploadId></InitiateMultipartUploadResult>`;
      const done = `<CompleteMultipartUploadResult>${about}<ETag>"2"</ETag></CompleteMultipartUploadResult>`;
      return res.writeHead(200, { etag: '"1"' }).end(req.url?.includes('uploads') ? begun : done);
    });
  });
  return { store, parts };
}
const putParts = (store: ObjectStore, stream: Buffer) =>
  store.put({ key: 'video', body: Readable.from([stream]), contentType: 'video/mp4' });

test('each part of a stream goes with its checksum', async () => {
  const stream = randomBytes(PART_BYTES + 1_000);
  const { store, parts } = await takingParts(stream.length);
  await putParts(store, stream);
  const sent = [stream.subarray(0, PART_BYTES), stream.subarray(PART_BYTES)];
  expect(parts).toEqual(sent.map((part) => md5Of(part, 'base64')));
});

test('a stream of which the store keeps one part of two fails the upload', async () => {
  const { store } = await takingParts(PART_BYTES);
  const upload = putParts(store, randomBytes(PART_BYTES + 1_000));
  await expect(upload).rejects.toMatchObject({ reason: 'object_store_unavailable' });
});

test('a store whose entity tags are no checksums, as with encryption, is asked for the object itself', async () => {
  const { store, asked } = await answering('0123456789abcdef0123456789abcdef', body);
  await put(store);
  expect(asked.map(({ method }) => method)).toEqual(['PUT', 'GET']);
});

test('a file that the store gives half of is no file', async () => {
  const { store } = await answering('', half);
  const path = join(await mkdtemp(join(tmpdir(), 'stored-bytes-')), 'video');
  const download = store.getToFile({ key: 'video', path, bytes: body.length });
  await expect(download).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(existsSync(path)).toBe(false);
});

test('a store that sends without end fills no disk', async () => {
  const chunk = randomBytes(64 * 1024);
  let sent = 0;
  const store = await scripted((_req, res) => {
    const more = () => {
      while (sent < MOST_SENT && res.write(chunk)) sent += chunk.length;
      if (sent >= MOST_SENT) res.end();
    };
    res.on('drain', more);
    more();
  });
  const path = join(await mkdtemp(join(tmpdir(), 'stored-bytes-')), 'video');
  const download = store.getToFile({ key: 'video', path, bytes: body.length });
  await expect(download).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(existsSync(path)).toBe(false);
  expect(sent).toBeLessThan(MOST_SENT);
});
