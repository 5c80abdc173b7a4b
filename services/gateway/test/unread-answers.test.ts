import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { unreadBytes } from './support/unread-bytes.ts';
import { wire } from './support/wire.ts';
import type { Wire } from './support/wire.ts';

const BUNDLE = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n';
const MIB = 1024 * 1024;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ CLIENT_PACE_WINDOW_MS: '1000' });
  // Compressed once, so that no test waits for it.
  await exchange(`${gateway.url}/docs/swagger-ui-bundle.js`);
});
afterAll(() => gateway.stop());

const cuts = () => gateway.log().split('"reason":"slow_reader","msg":"a connection was cut"').length - 1;

/** A client that asks for a whole answer of 1.7 MB, which the kernel takes, and reads nothing. */
async function reader(url: string, asking = `${BUNDLE}\r\n`): Promise<Wire> {
  const client = await wire(url);
  client.socket.pause();
  client.socket.write(asking);
  return client;
}

test.each<[string, { asking?: string; then?: (client: Wire) => void }]>([
  ['keeps its connection', {}],
  ['wanted it closed behind the answer', { asking: `${BUNDLE}Connection: close\r\n\r\n` }],
  ['closed its own side', { then: ({ socket }) => void socket.end() }],
  ['sent something else behind it', { then: ({ socket }) => void socket.write('no HTTP\r\n\r\n') }],
])('what the kernel holds for a client that %s and never reads is gone after the window', async (_name, way) => {
  const client = await reader(gateway.url, way.asking);
  await until(async () => (await unreadBytes(gateway.url)) > MIB);
  way.then?.(client);
  await until(async () => (await unreadBytes(gateway.url)) === 0);
  client.socket.destroy();
});

test('a connection on which the whole answer waits in the kernel is cut, and the reason is logged', async () => {
  const before = cuts();
  const client = await reader(gateway.url);
  await until(() => cuts() === before + 1);
  client.socket.destroy();
});

test('readers of one address that hold too much together go before the window, and idle connections stay', async () => {
  const { url } = await gateway.addReplica({ CLIENT_PACE_WINDOW_MS: '600000', HEAD_TIMEOUT_MS: '600000' });
  await exchange(`${url}/docs/swagger-ui-bundle.js`);
  const idle = await wire(url);
  const before = cuts();
  const readers = await Promise.all(Array.from({ length: 40 }, () => reader(url, `${BUNDLE}\r\n`.repeat(3))));
  await until(() => cuts() > before);
  await until(async () => (await unreadBytes(url)) <= 16 * MIB);
  idle.socket.write('GET /docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await idle.ended).toMatch(/^HTTP\/1\.1 200/);
  for (const { socket } of readers) socket.destroy();
});

test('a client that reads all of a large answer before it closes gets all of it', async () => {
  const { url } = await gateway.addReplica({ CLIENT_PACE_WINDOW_MS: '600000' });
  const client = await reader(url, `${BUNDLE}Connection: close\r\n\r\n`);
  await until(async () => (await unreadBytes(url)) > MIB);
  client.socket.resume();
  const text = await client.ended;
  expect(client.socket.bytesRead).toBeGreaterThan(Number(/content-length: (\d+)/i.exec(text)?.[1]));
});

test('a file of the documentation is sent compressed to clients that take it, and is the same', async () => {
  const [gzipped, plain] = await Promise.all(
    ['gzip', 'identity'].map((encoding) =>
      exchange(`${gateway.url}/docs/swagger-ui-bundle.js`, 'GET', { headers: { 'accept-encoding': encoding } }),
    ),
  );
  expect([gzipped?.headers.get('content-encoding'), plain?.headers.get('content-encoding')]).toEqual(['gzip', null]);
  expect(gzipped?.headers.get('vary')).toBe('Accept-Encoding');
  expect(Number(gzipped?.headers.get('content-length'))).toBeLessThan(600_000);
  expect(gzipped?.text).toBe(plain?.text);
});
