import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { sourceReasonOf } from '../src/domain/source-error.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, opener } from './support/live-watch.ts';
import { SDP, rtspAnswer, scriptedRtsp } from './support/scripted-rtsp.ts';
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
  const open = opener(`${own}/cam`)(true, AbortSignal.timeout(10_000));
  const input = await open.catch((error: unknown) => sourceReasonOf(error));
  if (typeof input === 'string') return { server, own, reason: input, input: undefined };
  atEnd(input.close);
  const fed = new PassThrough().resume();
  input.feed(fed);
  return { server, own, input, fed, reason: undefined };
}

const elsewhere = () => `rtsp://127.0.0.2:${inner.port}/inner`;
const found = (cseq: string, end: string) =>
  `RTSP/1.0 302 Found${end}CSeq: ${cseq}${end}Location: ${elsewhere()}\r\n\r\n`;

test.each<[string, string, RtspScript]>([
  ['a redirect', 'redirect_refused', { DESCRIBE: (r) => rtspAnswer(r, '302 Found', [`Location: ${elsewhere()}`]) }],
  [
    'a redirect of OPTIONS',
    'redirect_refused',
    { OPTIONS: (r) => rtspAnswer(r, '301 Moved', [`Location: ${elsewhere()}`]) },
  ],
  [
    'a redirect of SETUP',
    'redirect_refused',
    { SETUP: (r) => rtspAnswer(r, '305 Use Proxy', [`Location: ${elsewhere()}`]) },
  ],
  [
    'a redirect of PLAY',
    'redirect_refused',
    { PLAY: (r) => rtspAnswer(r, '303 See Other', [`Location: ${elsewhere()}`]) },
  ],
  [
    'a second answer behind a bare LF',
    'unreadable',
    { OPTIONS: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\n\n${found('2', '\n')}` },
  ],
  [
    'a second answer behind a bare CR',
    'unreadable',
    { OPTIONS: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\r${found('2', '\r')}` },
  ],
  [
    'LF in the start line',
    'unreadable',
    {
      DESCRIBE: ({ cseq }) => `RTSP/1.0 200 OK\nRTSP/1.0 302 Found\nCSeq: ${cseq}\r\nLocation: ${elsewhere()}\r\n\r\n`,
    },
  ],
  [
    'a hexadecimal length',
    'unreadable',
    { OPTIONS: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nContent-Length: 0x5a\r\n\r\n${found('2', '\r\n')}` },
  ],
  [
    'two lengths',
    'unreadable',
    {
      OPTIONS: ({ cseq }) =>
        `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nContent-Length: 90\r\nContent-Length: 0\r\n\r\n${found('2', '\r\n')}`,
    },
  ],
  [
    'a tab before the status',
    'unreadable',
    { DESCRIBE: ({ cseq }) => `RTSP/1.0\t302 Found\r\nCSeq: ${cseq}\r\nLocation: ${elsewhere()}\r\n\r\n` },
  ],
  [
    'an answer before it was asked for',
    'unreadable',
    { OPTIONS: (r) => `${rtspAnswer(r, '200 OK')}${found('7', '\r\n')}` },
  ],
  ['an answer to nothing', 'unreadable', { DESCRIBE: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}1\r\n\r\n` }],
  ['an answer without a number', 'unreadable', { DESCRIBE: () => 'RTSP/1.0 200 OK\r\n\r\n' }],
  [
    'a request to go elsewhere',
    'redirect_refused',
    { DESCRIBE: () => `REDIRECT ${elsewhere()} RTSP/1.0\r\nCSeq: 9\r\nLocation: ${elsewhere()}\r\n\r\n` },
  ],
  [
    'a description of an inner stream',
    'codec_unsupported',
    { DESCRIBE: (r) => rtspAnswer(r, '200 OK', [], `v=0\r\nc=IN IP4 127.0.0.2\r\nm=video ${inner.port} udp 96\r\n`) },
  ],
  [
    'a playlist in place of a description',
    'unreadable',
    { DESCRIBE: (r) => rtspAnswer(r, '200 OK', [], `#EXTM3U\nhttp://127.0.0.2:${inner.port}/\n`) },
  ],
  [
    'a transport of datagrams',
    'unreadable',
    {
      SETUP: (r) =>
        rtspAnswer(r, '200 OK', [
          `Transport: RTP/AVP;unicast;client_port=1-2;server_port=${inner.port}-1;source=127.0.0.2`,
        ]),
    },
  ],
  [
    'two transports',
    'unreadable',
    { SETUP: (r) => rtspAnswer(r, '200 OK', ['Transport: RTP/AVP/TCP;interleaved=0-1,RTP/AVP;destination=127.0.0.2']) },
  ],
  [
    'a control with a line break',
    'unreadable',
    { DESCRIBE: (r) => rtspAnswer(r, '200 OK', [], SDP.replace('track1', 'x y RTSP/1.0')) },
  ],
  [
    'packets in place of an answer, without end',
    'unreadable',
    {
      DESCRIBE: () =>
        Buffer.concat(
          Array.from({ length: 300 }, () => Buffer.concat([Buffer.from([0x24, 0, 0xff, 0xff]), Buffer.alloc(65_535)])),
        ),
    },
  ],
])('%s ends the attempt and leads nowhere', async (_name, reason, script) => {
  const opened = await openAgainst(script);
  expect(opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each<[string, RtspScript]>([
  ['Content-Base', { DESCRIBE: (r) => rtspAnswer(r, '200 OK', [`Content-Base: ${elsewhere()}/`], SDP) }],
  ['Content-Location', { DESCRIBE: (r) => rtspAnswer(r, '200 OK', [`Content-Location: ${elsewhere()}`], SDP) }],
  [
    'controls of track and stream',
    {
      DESCRIBE: (r) =>
        rtspAnswer(
          r,
          '200 OK',
          [],
          SDP.replace('t=0 0', `t=0 0\r\na=control:${elsewhere()}`).replace('track1', `${elsewhere()}/track1`),
        ),
    },
  ],
  [
    'c= and o= lines',
    {
      DESCRIBE: (r) =>
        rtspAnswer(
          r,
          '200 OK',
          [],
          SDP.replaceAll(/0\.0\.0\.0|127\.0\.0\.1/g, '127.0.0.2').replace('m=video 0', `m=video ${inner.port}`),
        ),
    },
  ],
  [
    'Transport',
    {
      SETUP: (r) =>
        rtspAnswer(r, '200 OK', [
          `Transport: RTP/AVP/TCP;unicast;destination=127.0.0.2;source=127.0.0.2;server_port=${inner.port}-${inner.port};interleaved=4-5`,
          'Session: 1',
        ]),
    },
  ],
  [
    'RTP-Info',
    { PLAY: (r) => rtspAnswer(r, '200 OK', ['Session: 1', `RTP-Info: url=${elsewhere()};seq=1;rtptime=1`]) },
  ],
  ['Location of a success', { PLAY: (r) => rtspAnswer(r, '200 OK', ['Session: 1', `Location: ${elsewhere()}`]) }],
])('hosts in %s are not read: every request names the host that was asked for', async (_name, script) => {
  const { server, own, reason } = await openAgainst(script);
  expect(reason).toBeUndefined();
  expect(server.requests.map(({ method }) => method)).toEqual(['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY']);
  expect(server.requests.filter(({ uri }) => !uri.startsWith(`${own}/`))).toEqual([]);
  expect(server.seen.connections).toBe(1);
  expect(inner.seen.connections).toBe(0);
});

test.each<[string, string, (playing: string) => string]>([
  [
    'a request to go elsewhere',
    'redirect_refused',
    () => `REDIRECT ${elsewhere()} RTSP/1.0\r\nCSeq: 1\r\nLocation: ${elsewhere()}\r\n\r\n`,
  ],
  ['a redirect that nobody asked for', 'redirect_refused', () => found('99', '\r\n')],
  ['a smuggled answer', 'unreadable', (cseq) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\n\n${found(cseq, '\n')}`],
  ['bytes of nothing', 'unreadable', () => '\x01\x02\x03\x04'],
  ['a packet that is no RTP', 'unreadable', () => '$\x00\x00\x04\x01\x02\x03\x04'],
])('%s while it plays ends the attempt', async (_name, reason, more) => {
  const opened = await openAgainst({
    PLAY: (r) => `${rtspAnswer(r, '200 OK', ['Session: 1'])}${more(r.cseq)}`,
  });
  // Bytes that come together with the answer may end the attempt before it counts as open.
  if (opened.input) await until(() => opened.fed.readableEnded);
  expect(opened.input?.failure() ?? opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test('a session is kept alive within its time, by what the server knows, and left at the end', async () => {
  const { server, input } = await openAgainst({});
  await until(() => server.requests.some(({ method }) => method === 'GET_PARAMETER'), { timeoutMs: 10_000 });
  input?.close();
  await until(() => server.requests.at(-1)?.method === 'TEARDOWN');
});

test('what a server asks of us is refused, and the stream goes on', async () => {
  const ask = 'OPTIONS * RTSP/1.0\r\nCSeq: 5\r\n\r\n';
  const { server, input } = await openAgainst({
    PLAY: (r) => rtspAnswer(r, '200 OK', ['Session: 1']) + ask.repeat(3),
  });
  const refusals = () => server.requests.filter(({ method, uri }) => method === 'RTSP/1.0' && uri === '501');
  await until(() => refusals().length === 3);
  expect(input?.failure()).toBeUndefined();
});
