import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { sourceReasonOf } from '@vision/streams/source-error';
import { leadingAnswers, playing, unreadHosts, whilePlaying } from './support/hostile-rtsp.ts';
import { tcpServer } from './support/live-servers.ts';
import type { Elsewhere } from './support/live-servers.ts';
import { atEnd, longSignal, opener, playToEnd } from './support/live-watch.ts';
import { rtspAnswer, scriptedRtsp } from './support/scripted-rtsp.ts';
import type { RtspScript } from './support/scripted-rtsp.ts';

let inner: Awaited<ReturnType<typeof tcpServer>>;

beforeAll(async () => {
  inner = await tcpServer((socket) => socket.end(), '127.0.0.2');
});
afterAll(() => {
  inner.close();
});

/** Addresses of 127.0.0.0/8 are all allowed here: nothing but the reader keeps a connection away. */
async function openAgainst(script: RtspScript) {
  const server = await scriptedRtsp(script);
  atEnd(server.close);
  const own = `rtsp://127.0.0.1:${server.port}`;
  const open = opener(`${own}/cam`)(true, longSignal());
  const input = await open.catch((error: unknown) => sourceReasonOf(error));
  if (typeof input === 'string') return { server, own, reason: input, input: undefined };
  atEnd(input.close);
  const played = playToEnd(input);
  return { server, own, input, played, reason: undefined };
}

const at = (): Elsewhere => ({ host: '127.0.0.2', port: inner.port, url: `rtsp://127.0.0.2:${inner.port}/inner` });

test.each(leadingAnswers)('%s ends the attempt and leads nowhere', async (_name, reason, script) => {
  const opened = await openAgainst(script(at()));
  expect(opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each(unreadHosts)(
  'hosts in %s are not read: every request names the host that was asked for',
  async (_name, script) => {
    const { server, own, reason } = await openAgainst(script(at()));
    expect(reason).toBeUndefined();
    // A session of four seconds is kept alive every two, which a busy machine may see before it looks here.
    const methods = server.requests.map(({ method }) => method).filter((method) => method !== 'GET_PARAMETER');
    expect(methods).toEqual(['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY']);
    expect(server.requests.filter(({ uri }) => !uri.startsWith(`${own}/`))).toEqual([]);
    expect(server.seen.connections).toBe(1);
    expect(inner.seen.connections).toBe(0);
  },
);

test.each(whilePlaying)('%s while it plays ends the attempt', async (_name, reason, more) => {
  const opened = await openAgainst(playing(more(at())));
  // Bytes that come together with the answer may end the attempt before it counts as open.
  await opened.played;
  await opened.input?.close();
  expect(opened.input?.failure() ?? opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test('a session is kept alive within its time, by what the server knows, and left at the end', async () => {
  const { server, input } = await openAgainst({});
  await until(() => server.requests.some(({ method }) => method === 'GET_PARAMETER'));
  await input?.close();
  await until(() => server.requests.at(-1)?.method === 'TEARDOWN');
});

test('what a server asks of us is refused, and the stream goes on', async () => {
  const ask = 'OPTIONS * RTSP/1.0\r\nCSeq: 5\r\n\r\n';
  const { server, input } = await openAgainst({
    PLAY: (r) => rtspAnswer(r, '200 OK', ['Session: 1']) + ask.repeat(3),
  });
  const refusals = () => server.requests.filter(({ method, uri }) => method === 'RTSP/1.0' && uri === '501');
  await until(() => refusals().length === 3);
  await input?.close();
  expect(input?.failure()).toBeUndefined();
});
