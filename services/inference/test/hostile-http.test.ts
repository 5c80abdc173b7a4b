import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sourceReasonOf } from '@vision/streams/source-error';
import { REDIRECTS, leadingAnswers, playlists, redirect, redirectingPiece } from './support/hostile-http.ts';
import { tcpServer } from './support/live-servers.ts';
import type { Elsewhere } from './support/live-servers.ts';
import { atEnd, longSignal, opener, playToEnd } from './support/live-watch.ts';

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
  const open = opener(`http://127.0.0.1:${server.port}/x`, { allowed: ['127.0.0.1/32'] })(true, longSignal());
  const input = await open.catch((error: unknown) => sourceReasonOf(error));
  if (typeof input === 'string') return input;
  atEnd(input.close);
  await playToEnd(input);
  await input.close();
  return input.failure();
}

const at = (): Elsewhere => ({ host: '127.0.0.2', port: inner.port, url: `http://127.0.0.2:${inner.port}/inner` });

test.each(REDIRECTS)('a redirect with %d is not followed', async (status) => {
  expect(await reasonAgainst(() => redirect(at(), status))).toBe('redirect_refused');
  expect(inner.seen.connections).toBe(0);
});

test.each(leadingAnswers)('%s ends the attempt (%s) and leads nowhere', async (_name, reason, answer) => {
  expect(await reasonAgainst(() => answer(at()))).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each(playlists)('a playlist with %s ends the attempt (%s)', async (_name, reason, answer) => {
  expect(await reasonAgainst(() => answer(at()))).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test('pieces that redirect are not followed', async () => {
  expect(await reasonAgainst((path) => redirectingPiece(at(), path))).toBe('redirect_refused');
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
