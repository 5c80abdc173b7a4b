import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { BodyTooLargeError, readBody, readRequestBody } from './read-body.ts';

test('a reply is read whole up to its bound', async () => {
  const pieces = [Buffer.from('ab'), Buffer.from('cd')];
  expect((await readBody(Readable.from(pieces), 4)).toString()).toBe('abcd');
});

test('a reply beyond its bound is refused and its stream is destroyed', async () => {
  const body = Readable.from([Buffer.from('ab'), Buffer.from('cd'), Buffer.from('ef')]);
  await expect(readBody(body, 3)).rejects.toBeInstanceOf(BodyTooLargeError);
  expect(body.destroyed).toBe(true);
});

test('a reply that breaks off fails with the error of its stream', async () => {
  const body = new Readable({ read: () => undefined });
  const reading = readBody(body, 10);
  body.push('ab');
  body.destroy(new Error('connection lost'));
  await expect(reading).rejects.toThrow('connection lost');
});

/** What a server answers that tries to read the body of this raw request. */
async function answerTo(raw: string): Promise<string> {
  const server = createServer((req, res) => {
    const limits = { maxBytes: 8, idleMs: 50, totalMs: 2_000 };
    readRequestBody(req, limits).then(
      (bytes) => res.end(`read ${bytes.toString()}`),
      (error: unknown) => res.end((error as { reason: string }).reason),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${raw}`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.closeAllConnections();
  server.close();
  return (
    answer
      .toString()
      .split('\r\n\r\n')[1]
      ?.replace(/^\w+\r\n|\r\n.*$/g, '') ?? ''
  );
}

test('a request body is read whole up to its bound', async () => {
  expect(await answerTo('Content-Length: 4\r\n\r\nabcd')).toBe('read abcd');
});

test('a request body that is too large is refused with an answer, before or while it arrives', async () => {
  expect(await answerTo('Content-Length: 9\r\n\r\n')).toBe('body_too_large');
  expect(await answerTo('Transfer-Encoding: chunked\r\n\r\n9\r\nabcdefghi\r\n')).toBe('body_too_large');
});

test('a request body that stops arriving is refused with an answer', async () => {
  expect(await answerTo('Content-Length: 4\r\n\r\nab')).toBe('body_too_slow');
});
