import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { bearer, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { unreadBytes } from './support/unread-bytes.ts';
import { valuesOf } from './support/upstream.ts';
import { wire } from './support/wire.ts';

let gateway: TestGateway;
const held: ServerResponse[] = [];
beforeAll(async () => {
  gateway = await startGateway({ KEY_CACHE_MS: '200', UPSTREAM_READ_MS: '500', SLOT_LEASE_MS: '3600000' });
  gateway.upstream.answer = (_req, res) => {
    held.push(res);
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    res.write('retry: 500\n\n');
  };
});
afterEach(() => {
  for (const res of held.splice(0)) res.end();
});
afterAll(() => gateway.stop());

class Stream {
  readonly response: Response;
  text = '';
  state: 'open' | 'ended' | 'broken' = 'open';

  constructor(response: Response) {
    this.response = response;
    void this.#read();
  }

  async #read(): Promise<void> {
    try {
      const decoder = new TextDecoder();
      for await (const chunk of this.response.body ?? []) this.text += decoder.decode(chunk as Uint8Array);
      this.state = 'ended';
    } catch {
      this.state = 'broken';
    }
  }
}

async function open(key: string, { url = gateway.url, ...init }: RequestInit & { url?: string } = {}): Promise<Stream> {
  const path = `/v1/vision/tasks/${randomUUID()}/results/stream?labels=car`;
  const headers = { ...bearer(key), 'last-event-id': 'place' };
  return new Stream(await fetch(url + path, { ...init, headers }));
}

test('a stream passes on what comes, has no deadline, and outlives the silence of a read', async () => {
  const { key } = await gateway.newKey();
  const stream = await open(key);
  const { url, rawHeaders } = gateway.upstream.last();
  expect(url).toMatch(/\/results\/stream\?labels=car$/);
  expect([valuesOf(rawHeaders, 'x-deadline-ms'), valuesOf(rawHeaders, 'last-event-id')]).toEqual([[], ['place']]);
  expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
  const openedAt = performance.now();
  await until(() => Promise.resolve(performance.now() - openedAt > 1000));
  held[0]?.write('data: 1\n\n');
  await until(() => Promise.resolve(stream.text === 'retry: 500\n\ndata: 1\n\n'));
  held[0]?.end();
  await until(() => Promise.resolve(stream.state === 'ended'));
});

test('a subject has no more streams open than event_streams, and a slot is free however a stream ends', async () => {
  const { key } = await gateway.newKey({ event_streams: 1 });
  const leaving = new AbortController();
  const byClient = await open(key, { signal: leaving.signal });
  const refused = await open(key);
  expect([refused.response.status, byClient.response.status]).toEqual([429, 200]);
  await until(() => Promise.resolve(refused.state === 'ended'));
  expect(JSON.parse(refused.text)).toMatchObject({
    details: { reason: 'too_many_in_flight', limit: 'event_streams', allowed: 1 },
  });
  const opens = async (): Promise<Stream> => {
    let stream: Stream | undefined;
    await until(async () => {
      stream = await open(key);
      return stream.response.status === 200;
    });
    if (!stream) throw new Error('not opened');
    return stream;
  };
  leaving.abort();
  await opens();
  held.at(-1)?.end();
  const byService = await opens();
  held.at(-1)?.destroy();
  await until(() => Promise.resolve(byService.state === 'broken'));
  await opens();
});

test('a stream ends when its key is revoked, and streams of other keys go on', async () => {
  const [first, second] = [await gateway.newKey(), await gateway.newKey()];
  const streams = [await open(first.key), await open(second.key)];
  const { status } = await gateway.admin('DELETE', `/admin/v1/keys/${first.keyId}`);
  expect(status).toBeLessThan(300);
  await until(() => Promise.resolve(streams[0]?.state === 'ended'));
  expect((await open(first.key)).response.status).toBe(401);
  expect(streams[1]?.state).toBe('open');
  await until(() => Promise.resolve(gateway.upstream.seen[gateway.upstream.seen.length - 2]?.isCut === true));
});

test('a gateway that stops ends its streams at once', async () => {
  const replica = await gateway.addReplica({ SHUTDOWN_GRACE_MS: '120000' });
  const { key } = await gateway.newKey();
  const stream = await open(key, { url: replica.url });
  const startedAt = performance.now();
  await replica.stop();
  // As long as running requests may take otherwise.
  expect(performance.now() - startedAt).toBeLessThan(60_000);
  await until(() => Promise.resolve(stream.state === 'ended'));
});

test('a client that takes nothing more, as one whose network is gone, frees its slot', async () => {
  const { key } = await gateway.newKey({ event_streams: 1 });
  const client = await wire(gateway.url);
  client.socket.pause();
  const path = `/v1/vision/tasks/${randomUUID()}/results/stream`;
  client.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer(key).authorization}\r\n\r\n`);
  await until(() => Promise.resolve(held.length === 1));
  // Fills the receive buffer of the client's system; the rest is too small to measure a pace.
  let unread = 0;
  await until(async () => {
    if (unread === 0) held[0]?.write(`:${'.'.repeat(4_000)}\n\n`);
    unread = (await unreadBytes(gateway.url)) > 0 ? unread + 1 : 0;
    return unread === 10;
  });
  const filledAt = performance.now();
  await until(async () => (await open(key)).response.status === 200);
  // A stream that the service sends nothing on is closed after 30 s anyway.
  expect(performance.now() - filledAt).toBeLessThan(15_000);
  client.socket.destroy();
});
