import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { sourceReasonOf } from '../src/domain/source-error.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, opener } from './support/live-watch.ts';

jest.setTimeout(30_000);

let inner: Awaited<ReturnType<typeof tcpServer>>;

beforeAll(async () => {
  inner = await tcpServer((socket) => socket.end(), '127.0.0.2');
});
afterAll(() => {
  inner.close();
});

/** What becomes of a source whose server answers each request with these bytes. Only 127.0.0.1 may be reached. */
async function reasonAgainst(answer: (path: string) => string | Buffer): Promise<string | undefined> {
  const server = await tcpServer((socket) => {
    socket.on('data', (request: Buffer) => {
      const bytes = answer(request.toString('latin1').split(' ')[1] ?? '');
      socket.write(Buffer.from(bytes as string, 'latin1'));
    });
  });
  atEnd(server.close);
  const open = opener(`http://127.0.0.1:${server.port}/x`, { allowed: ['127.0.0.1/32'] })(
    true,
    AbortSignal.timeout(20_000),
  );
  const input = await open.catch((error: unknown) => sourceReasonOf(error));
  if (typeof input === 'string') return input;
  atEnd(input.close);
  const fed = new PassThrough().resume();
  input.feed(fed);
  await until(() => fed.readableEnded || fed.destroyed);
  return input.failure();
}

const elsewhere = () => `http://127.0.0.2:${inner.port}/inner`;
const found = (end = '\r\n') => `HTTP/1.1 302 Found${end}Location: ${elsewhere()}${end}${end}`;
const body = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

test.each([301, 302, 303, 304, 305, 307, 308, 399])('a redirect with %d is not followed', async (status) => {
  expect(await reasonAgainst(() => `HTTP/1.1 ${status} Moved\r\nLocation: ${elsewhere()}\r\n\r\n`)).toBe(
    'redirect_refused',
  );
  expect(inner.seen.connections).toBe(0);
});

test.each<[string, string, () => string]>([
  ['a second answer behind a bare LF', 'connection_failed', () => `HTTP/1.1 200 OK\r\nX: 1\n\n${found()}`],
  ['a second answer behind a bare CR', 'connection_failed', () => `HTTP/1.1 200 OK\r\nX: 1\r\r${found()}`],
  ['lines that end with LF', 'connection_failed', () => found('\n')],
  ['a tab before the status', 'connection_failed', () => found().replace(' ', '\t')],
  ['a hexadecimal length', 'connection_failed', () => `HTTP/1.1 200 OK\r\nContent-Length: 0x5a\r\n\r\n${found()}`],
  [
    'two lengths',
    'connection_failed',
    () => `HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 0\r\n\r\n${found()}`,
  ],
  [
    'a length beside chunks',
    'connection_failed',
    () => `HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a folded line', 'connection_failed', () => 'HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n'],
  ['a control character', 'connection_failed', () => 'HTTP/1.1 200 OK\r\nX: \x07\r\n\r\n'],
  ['headers without end', 'connection_failed', () => `HTTP/1.1 200 OK\r\n${'X: 1\r\n'.repeat(20_000)}`],
  [
    'another protocol from here on',
    'connection_failed',
    () => `HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${found()}`,
  ],
  [
    'a page that refreshes',
    'unreadable',
    () => body(`<meta http-equiv="refresh" content="0;url=${elsewhere()}">${' '.repeat(999)}`),
  ],
  ['a list of files', 'unreadable', () => body(`ffconcat version 1.0\nfile '${elsewhere()}'\n${'#'.repeat(999)}`)],
  [
    'a session description',
    'unreadable',
    () => body(`v=0\r\nc=IN IP4 127.0.0.2\r\nm=video ${inner.port} RTP/AVP 96\r\n${'a=x\r\n'.repeat(300)}`),
  ],
])('%s ends the attempt (%s) and leads nowhere', async (_name, reason, answer) => {
  expect(await reasonAgainst(answer)).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

const list = (...lines: string[]) => body(['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines, ''].join('\n'));
const variant = (uri: string) => body(`#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${uri}\n`);
const piece = (uri: string) => list('#EXTINF:2,', uri, '#EXT-X-ENDLIST');

test.each<[string, string, () => string]>([
  ['pieces of another host', 'address_forbidden', () => piece(elsewhere())],
  ['pieces of another host by its short form', 'address_forbidden', () => piece(`//127.0.0.2:${inner.port}/a.ts`)],
  ['pieces of a host that is a number', 'address_forbidden', () => piece(`http://2130706434:${inner.port}/a.ts`)],
  ['pieces of a host in octal digits', 'address_forbidden', () => piece(`http://0177.0.0.2:${inner.port}/a.ts`)],
  ['pieces of a host that is mapped', 'address_forbidden', () => piece(`http://[::ffff:127.0.0.2]:${inner.port}/a.ts`)],
  [
    'pieces of a host behind a user',
    'address_forbidden',
    () => piece(`http://127.0.0.1:80@127.0.0.2:${inner.port}/a.ts`),
  ],
  ['pieces of a port that no stream comes from', 'address_forbidden', () => piece('http://8.8.8.8:6379/a.ts')],
  ['pieces of other schemes', 'address_forbidden', () => piece(`rtmp://127.0.0.2:${inner.port}/a`)],
  ['pieces of this machine', 'address_forbidden', () => piece('file:///etc/passwd')],
  [
    'a key of another host',
    'address_forbidden',
    () => list(`#EXT-X-KEY:METHOD=AES-128,URI="${elsewhere()}"`, '#EXTINF:2,', 'a.ts'),
  ],
  [
    'a header of another host',
    'address_forbidden',
    () => list(`#EXT-X-MAP:URI="${elsewhere()}"`, '#EXTINF:2,', 'a.ts'),
  ],
  ['a playlist of another host', 'address_forbidden', () => variant(elsewhere())],
  ['a playlist that names itself', 'unreadable', () => variant('/x')],
])('a playlist with %s ends the attempt (%s)', async (_name, reason, answer) => {
  expect(await reasonAgainst(answer)).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test('pieces that redirect are not followed', async () => {
  expect(await reasonAgainst((path) => (path === '/x' ? piece('a.ts') : found()))).toBe('redirect_refused');
  expect(inner.seen.connections).toBe(0);
});

test('a server that only ever says that it is at work has the time for opening', async () => {
  const server = await tcpServer((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 100);
    socket.once('close', () => clearInterval(timer));
  });
  atEnd(server.close);
  const open = opener(`http://127.0.0.1:${server.port}/x`, { openTimeoutMs: 500 })(true, new AbortController().signal);
  await expect(open).rejects.toThrow('timeout');
});
