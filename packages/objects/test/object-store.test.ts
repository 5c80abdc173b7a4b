import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { PassThrough, Readable } from 'node:stream';
import { PART_BYTES } from '../src/uploads.ts';
import { createObjectStore } from '../src/object-store.ts';
import type { ObjectStore } from '../src/object-store.ts';

const prefix = `test-object-store/${randomUUID()}/`;
let store: ObjectStore;
let folder: string;
const scriptedStores: (() => void)[] = [];

beforeAll(async () => {
  store = createObjectStore(settings(process.env['TEST_S3_ENDPOINT'] ?? ''));
  folder = await mkdtemp(join(tmpdir(), 'object-store-'));
  await store.ensureBucket();
});

afterEach(() => scriptedStores.splice(0).forEach((close) => close()));

afterAll(async () => {
  await store.remove((await all(store.list(prefix))).map(({ key }) => key));
  store.close();
  await rm(folder, { recursive: true });
});

test('a buffer of exactly one part comes back as it was', async () => {
  const body = randomBytes(PART_BYTES);
  await store.put({ key: `${prefix}buffer`, body, contentType: 'image/png' });
  expect((await contentOf(`${prefix}buffer`)).equals(body)).toBe(true);
  expect(await store.stat(`${prefix}buffer`)).toMatchObject({ key: `${prefix}buffer`, bytes: PART_BYTES });
});

test('a stream of several parts comes back as it was and can be read into a file', async () => {
  const body = randomBytes(2 * PART_BYTES + 12_345);
  await store.put({ key: `${prefix}stream`, body: Readable.from(chunksOf(body)), contentType: 'video/mp4' });
  const path = join(folder, 'stream');
  await store.getToFile({ key: `${prefix}stream`, path });
  expect((await readFile(path)).equals(body)).toBe(true);
});

/** All bytes of a range. */
async function rangeOf(client: ObjectStore, request: { key: string; first: number; bytes: number }): Promise<Buffer> {
  const to = new PassThrough();
  const [chunks] = await Promise.all([all(to as AsyncIterable<Buffer>), client.getRange(request, to)]);
  return Buffer.concat(chunks);
}

test('a range gives the bytes between its ends and ends the stream', async () => {
  const body = randomBytes(300_000);
  const key = `${prefix}range`;
  await store.put({ key, body, contentType: 'video/mp4' });
  expect((await rangeOf(store, { key, first: 0, bytes: 300_000 })).equals(body)).toBe(true);
  expect((await rangeOf(store, { key, first: 299_999, bytes: 1 })).equals(body.subarray(299_999))).toBe(true);
  expect((await rangeOf(store, { key, first: 1_000, bytes: 70_000 })).equals(body.subarray(1_000, 71_000))).toBe(true);
  const missing = { key: `${prefix}none`, first: 0, bytes: 1 };
  await expect(store.getRange(missing, new PassThrough())).rejects.toMatchObject({ reason: 'object_not_found' });
});

test.each([
  ['more', 'abcdef'],
  ['less', 'ab'],
])('a range of which the store gives %s is no range: its stream is destroyed', async (_name, given) => {
  const client = await scripted(() => given);
  const to = new PassThrough();
  const closed = new Promise((resolve) => to.once('close', resolve));
  to.on('error', () => undefined).resume();
  await expect(client.getRange({ key: 'x', first: 0, bytes: 4 }, to)).rejects.toMatchObject({
    reason: 'object_store_unavailable',
  });
  await closed;
  expect(to.readableEnded).toBe(false);
});

test('a reader that takes nothing holds the store back, and its leaving ends the exchange', async () => {
  const body = randomBytes(8 * 1024 * 1024);
  const key = `${prefix}held`;
  await store.put({ key, body, contentType: 'video/mp4' });
  const to = new PassThrough();
  let written = 0;
  const write = to.write.bind(to) as (chunk: Buffer) => boolean;
  to.write = ((chunk: Buffer) => {
    written += chunk.length;
    return write(chunk);
  }) as typeof to.write;
  const leaving = new AbortController();
  const reading = store.getRange({ key, first: 0, bytes: body.length, signal: leaving.signal }, to);
  reading.catch(() => undefined);
  await once(to, 'readable');
  leaving.abort(new Error('left'));
  await expect(reading).rejects.toThrow('left');
  expect(written).toBeLessThan(1024 * 1024);
});

test('a stream of known length and hash goes in one request, and only if both are true', async () => {
  const body = randomBytes(3 * 1024 * 1024);
  const key = `${prefix}known`;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const known = { bytes: body.length, sha256, crc32: crc32(body) };
  const put = (sha256: string) =>
    store.put({ key, body: Readable.from(chunksOf(body)), contentType: 'image/png', known: { ...known, sha256 } });
  await expect(put('0'.repeat(64))).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(await store.stat(key)).toBeUndefined();
  await put(known.sha256);
  expect((await contentOf(key)).equals(body)).toBe(true);
});

test('a stream that breaks in the middle rejects with its own error and leaves no object or upload', async () => {
  const key = `${prefix}broken`;
  const broken = Readable.from(
    (async function* () {
      yield randomBytes(PART_BYTES + 1);
      await Promise.resolve();
      throw new Error('the client went away');
    })(),
  );
  await expect(store.put({ key, body: broken, contentType: 'video/mp4' })).rejects.toThrow('the client went away');
  expect(await store.stat(key)).toBeUndefined();
  expect(await store.abortIncomplete(key)).toBe(0);
});

test('a stream that has ended before a store that refuses connections rejects at once', async () => {
  const away = createObjectStore(settings('http://127.0.0.1:1'));
  const body = new PassThrough();
  for (let chunk = 0; chunk < 4; chunk += 1) body.write(Buffer.alloc(50_000));
  body.end();
  const put = away.put({ key: `${prefix}away`, body, contentType: 'video/mp4' });
  await expect(put).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(body.destroyed).toBe(true);
  away.close();
});

test('an aborted upload rejects with the reason of the signal', async () => {
  const controller = new AbortController();
  const endless = new Readable({ read: () => undefined });
  endless.push(randomBytes(100));
  const upload = store.put({
    key: `${prefix}aborted`,
    body: endless,
    contentType: 'video/mp4',
    signal: controller.signal,
  });
  controller.abort(new Error('enough'));
  await expect(upload).rejects.toThrow('enough');
  expect(endless.destroyed).toBe(true);
});

test('what was asked for and is not there is said so, and its file is not left', async () => {
  const path = join(folder, 'missing');
  await expect(store.getToFile({ key: `${prefix}missing`, path })).rejects.toMatchObject({
    reason: 'object_not_found',
  });
  expect(await store.stat(`${prefix}missing`)).toBeUndefined();
  expect(await readdir(folder)).not.toContain('missing');
});

test('removing takes objects away, and those that are gone already do not disturb it', async () => {
  const keys = ['a', 'b', 'c'].map((name) => `${prefix}remove/${name}`);
  for (const key of keys.slice(0, 2)) await store.put({ key, body: Buffer.from('x'), contentType: 'text/plain' });
  expect((await all(store.list(`${prefix}remove/`))).map(({ key }) => key)).toEqual(keys.slice(0, 2));
  await store.remove(keys);
  await store.remove(keys);
  expect(await all(store.list(`${prefix}remove/`))).toEqual([]);
});

test('a wrong secret is an unavailable store, not a fault of the caller', async () => {
  const other = createObjectStore({ ...settings(process.env['TEST_S3_ENDPOINT'] ?? ''), secretKey: 'wrong-secret' });
  await expect(other.stat('x')).rejects.toMatchObject({
    code: 'OP-SYS-UNAVAILABLE',
    reason: 'object_store_unavailable',
  });
  other.close();
});

test('a store that accepts and says nothing is given up after the deadline', async () => {
  const server = createServer((socket) => void socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const silent = createObjectStore({
    ...settings(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    idleMs: 200,
  });
  const refusal = { code: 'OP-SYS-UNAVAILABLE', reason: 'object_store_unavailable' };
  await expect(silent.stat('x')).rejects.toMatchObject(refusal);
  const body = Readable.from([Buffer.from('x')]);
  await expect(silent.put({ key: 'x', body, contentType: 'text/plain' })).rejects.toMatchObject(refusal);
  silent.close();
  server.close();
});

test('no more of a stream is taken than the part that is on its way, however slow the store is', async () => {
  let taken = 0;
  const takenAtPart: number[] = [];
  const slow = createHttpServer((req, res) => {
    if (req.method === 'POST' && /\?uploads/.test(req.url ?? '')) {
      res.end('<InitiateMultipartUploadResult><UploadId>upload</UploadId></InitiateMultipartUploadResult>');
    } else if (req.method === 'PUT') {
      req.resume().once('end', () => {
        takenAtPart.push(taken);
        res.setHeader('ETag', '"1"').end();
      });
    } else if (req.method === 'HEAD') {
      res.writeHead(200, { 'Content-Length': 3 * PART_BYTES, 'Last-Modified': new Date().toUTCString() }).end();
    } else {
      res.end('<CompleteMultipartUploadResult><Location>x</Location><ETag>tag</ETag></CompleteMultipartUploadResult>');
    }
  }).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const client = createObjectStore(settings(`http://127.0.0.1:${(slow.address() as AddressInfo).port}`));
  const body = Readable.from(
    (function* () {
      for (const chunk of chunksOf(randomBytes(3 * PART_BYTES))) {
        taken += chunk.length;
        yield chunk;
      }
    })(),
  );
  await client.put({ key: 'x', body, contentType: 'video/mp4' });
  // A part and what streams on the way to it hold: 16 pieces of 64 KiB each.
  takenAtPart.forEach((bytes, index) => expect(bytes).toBeLessThanOrEqual((index + 1) * PART_BYTES + 2 * 16 * 65_536));
  expect(takenAtPart).toHaveLength(3);
  client.close();
  slow.close();
  slow.closeAllConnections();
});

/** A store with scripted responses, for behaviour that the real one does not show on demand. */
async function scripted(answer: (req: IncomingMessage, url: URL) => string | undefined, status = 200) {
  const server = createHttpServer((req, res) => {
    const body = answer(req, new URL(req.url ?? '', 'http://store'));
    const isError = body?.startsWith('<Error>') ?? false;
    req.resume().once('end', () => {
      if (body === undefined) res.writeHead(204).end();
      else res.writeHead(isError ? status : 200).end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createObjectStore(settings(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  scriptedStores.push(() => {
    client.close();
    server.close();
    server.closeAllConnections();
  });
  return client;
}

test('a removal that is refused is reported, also behind an object that is gone already', async () => {
  const gone = '<Error><Key>a</Key><Code>NoSuchKey</Code><Message>gone</Message></Error>';
  const refused = '<Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error>';
  let errors = gone;
  const client = await scripted(() => `<DeleteResult>${errors}</DeleteResult>`);
  await client.remove(['a', 'b']);
  errors += refused;
  await expect(client.remove(['a', 'b'])).rejects.toMatchObject({ reason: 'object_store_unavailable' });
});

test('all multipart uploads that were left are ended, however many pages of them there are', async () => {
  const upload = (key: string, initiated: Date) =>
    `<Upload><Key>${key}</Key><UploadId>id/${key}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`;
  const pages = [
    `<IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>id/a</NextUploadIdMarker>
     ${upload('a', new Date(0))}`,
    `<IsTruncated>false</IsTruncated>${upload('b', new Date(0))}${upload('c', new Date())}`,
  ];
  const ended: string[] = [];
  const client = await scripted((req, url) => {
    if (req.method === 'DELETE') {
      ended.push(`${url.pathname} ${url.searchParams.get('uploadId') ?? ''}`);
      return undefined;
    }
    const isSecond = url.searchParams.get('key-marker') === 'a' && url.searchParams.get('upload-id-marker') === 'id/a';
    return `<ListMultipartUploadsResult>${pages[isSecond ? 1 : 0] ?? ''}</ListMultipartUploadsResult>`;
  });
  expect(await client.abortIncomplete('', new Date(1000))).toBe(2);
  expect(ended).toEqual(['/vision/a id/a', '/vision/b id/b']);
});

test('an upload that is given up is ended also when the clock of the store is ahead', async () => {
  const inAMinute = new Date(Date.now() + 60_000).toISOString();
  const upload = `<Upload><Key>a</Key><UploadId>id/a</UploadId><Initiated>${inAMinute}</Initiated></Upload>`;
  const client = await scripted((req) =>
    req.method === 'DELETE'
      ? undefined
      : `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${upload}</ListMultipartUploadsResult>`,
  );
  expect(await client.abortIncomplete('a')).toBe(1);
});

test('an upload that is listed and yet gone keeps those behind it from nothing', async () => {
  const uploads = ['gone', 'there'].map(
    (key) =>
      `<Upload><Key>${key}</Key><UploadId>1</UploadId><Initiated>${new Date(0).toISOString()}</Initiated></Upload>`,
  );
  const client = await scripted((req, url) => {
    if (req.method !== 'DELETE')
      return `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`;
    return url.pathname.endsWith('/gone') ? '<Error><Code>NoSuchUpload</Code></Error>' : undefined;
  }, 404);
  expect(await client.abortIncomplete('')).toBe(1);
});

async function contentOf(key: string): Promise<Buffer> {
  const path = join(folder, randomUUID());
  await store.getToFile({ key, path });
  return readFile(path);
}

function settings(endpoint: string) {
  return {
    endpoint,
    region: process.env['TEST_S3_REGION'] ?? 'us-east-1',
    bucket: process.env['TEST_S3_BUCKET'] ?? 'vision',
    accessKey: process.env['TEST_S3_ACCESS_KEY'] ?? '',
    secretKey: process.env['TEST_S3_SECRET_KEY'] ?? '',
  };
}

function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
