import type { Elsewhere } from './live-servers.ts';
import { SDP, rtspAnswer } from './scripted-rtsp.ts';
import type { RtspScript } from './scripted-rtsp.ts';

const found = (at: Elsewhere, cseq: string, end: string) =>
  `RTSP/1.0 302 Found${end}CSeq: ${cseq}${end}Location: ${at.url}\r\n\r\n`;

/** Responses of a server that point a reader to another host, and the reason that ends the attempt. */
export const leadingAnswers: [string, string, (at: Elsewhere) => RtspScript][] = [
  [
    'a redirect',
    'redirect_refused',
    (at) => ({ DESCRIBE: (r) => rtspAnswer(r, '302 Found', [`Location: ${at.url}`]) }),
  ],
  [
    'a redirect of OPTIONS',
    'redirect_refused',
    (at) => ({ OPTIONS: (r) => rtspAnswer(r, '301 Moved', [`Location: ${at.url}`]) }),
  ],
  [
    'a redirect of SETUP',
    'redirect_refused',
    (at) => ({ SETUP: (r) => rtspAnswer(r, '305 Use Proxy', [`Location: ${at.url}`]) }),
  ],
  [
    'a redirect of PLAY',
    'redirect_refused',
    (at) => ({ PLAY: (r) => rtspAnswer(r, '303 See Other', [`Location: ${at.url}`]) }),
  ],
  [
    'a second answer behind a bare LF',
    'unreadable',
    (at) => ({ OPTIONS: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\n\n${found(at, '2', '\n')}` }),
  ],
  [
    'a second answer behind a bare CR',
    'unreadable',
    (at) => ({ OPTIONS: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\r${found(at, '2', '\r')}` }),
  ],
  [
    'LF in the start line',
    'unreadable',
    (at) => ({
      DESCRIBE: ({ cseq }) => `RTSP/1.0 200 OK\nRTSP/1.0 302 Found\nCSeq: ${cseq}\r\nLocation: ${at.url}\r\n\r\n`,
    }),
  ],
  [
    'a hexadecimal length',
    'unreadable',
    (at) => ({
      OPTIONS: ({ cseq }) =>
        `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nContent-Length: 0x5a\r\n\r\n${found(at, '2', '\r\n')}`,
    }),
  ],
  [
    'two lengths',
    'unreadable',
    (at) => ({
      OPTIONS: ({ cseq }) =>
        `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nContent-Length: 90\r\nContent-Length: 0\r\n\r\n${found(at, '2', '\r\n')}`,
    }),
  ],
  [
    'a tab before the status',
    'unreadable',
    (at) => ({ DESCRIBE: ({ cseq }) => `RTSP/1.0\t302 Found\r\nCSeq: ${cseq}\r\nLocation: ${at.url}\r\n\r\n` }),
  ],
  [
    'an answer before it was asked for',
    'unreadable',
    (at) => ({ OPTIONS: (r) => `${rtspAnswer(r, '200 OK')}${found(at, '7', '\r\n')}` }),
  ],
  [
    'an answer to nothing',
    'unreadable',
    () => ({ DESCRIBE: ({ cseq }) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}1\r\n\r\n` }),
  ],
  ['an answer without a number', 'unreadable', () => ({ DESCRIBE: () => 'RTSP/1.0 200 OK\r\n\r\n' })],
  [
    'a request to go elsewhere',
    'redirect_refused',
    (at) => ({ DESCRIBE: () => `REDIRECT ${at.url} RTSP/1.0\r\nCSeq: 9\r\nLocation: ${at.url}\r\n\r\n` }),
  ],
  [
    'a description of an inner stream',
    'codec_unsupported',
    (at) => ({
      DESCRIBE: (r) => rtspAnswer(r, '200 OK', [], `v=0\r\nc=IN IP4 ${at.host}\r\nm=video ${at.port} udp 96\r\n`),
    }),
  ],
  [
    'a playlist in place of a description',
    'unreadable',
    (at) => ({ DESCRIBE: (r) => rtspAnswer(r, '200 OK', [], `#EXTM3U\nhttp://${at.host}:${at.port}/\n`) }),
  ],
  [
    'a transport of datagrams',
    'unreadable',
    (at) => ({
      SETUP: (r) =>
        rtspAnswer(r, '200 OK', [
          `Transport: RTP/AVP;unicast;client_port=1-2;server_port=${at.port}-1;source=${at.host}`,
        ]),
    }),
  ],
  [
    'two transports',
    'unreadable',
    (at) => ({
      SETUP: (r) => rtspAnswer(r, '200 OK', [`Transport: RTP/AVP/TCP;interleaved=0-1,RTP/AVP;destination=${at.host}`]),
    }),
  ],
  [
    'a control with a line break',
    'unreadable',
    () => ({ DESCRIBE: (r) => rtspAnswer(r, '200 OK', [], SDP.replace('track1', 'x y RTSP/1.0')) }),
  ],
  [
    'packets in place of an answer, without end',
    'unreadable',
    () => ({
      DESCRIBE: () =>
        Buffer.concat(
          Array.from({ length: 300 }, () => Buffer.concat([Buffer.from([0x24, 0, 0xff, 0xff]), Buffer.alloc(65_535)])),
        ),
    }),
  ],
];

/** Fields of a response with a host that the reader ignores. */
export const unreadHosts: [string, (at: Elsewhere) => RtspScript][] = [
  ['Content-Base', (at) => ({ DESCRIBE: (r) => rtspAnswer(r, '200 OK', [`Content-Base: ${at.url}/`], SDP) })],
  ['Content-Location', (at) => ({ DESCRIBE: (r) => rtspAnswer(r, '200 OK', [`Content-Location: ${at.url}`], SDP) })],
  [
    'controls of track and stream',
    (at) => ({
      DESCRIBE: (r) =>
        rtspAnswer(
          r,
          '200 OK',
          [],
          SDP.replace('t=0 0', `t=0 0\r\na=control:${at.url}`).replace('track1', `${at.url}/track1`),
        ),
    }),
  ],
  [
    'c= and o= lines',
    (at) => ({
      DESCRIBE: (r) =>
        rtspAnswer(
          r,
          '200 OK',
          [],
          SDP.replaceAll(/0\.0\.0\.0|127\.0\.0\.1/g, at.host).replace('m=video 0', `m=video ${at.port}`),
        ),
    }),
  ],
  [
    'Transport',
    (at) => ({
      SETUP: (r) =>
        rtspAnswer(r, '200 OK', [
          `Transport: RTP/AVP/TCP;unicast;destination=${at.host};source=${at.host};server_port=${at.port}-${at.port};interleaved=4-5`,
          'Session: 1',
        ]),
    }),
  ],
  [
    'RTP-Info',
    (at) => ({ PLAY: (r) => rtspAnswer(r, '200 OK', ['Session: 1', `RTP-Info: url=${at.url};seq=1;rtptime=1`]) }),
  ],
  ['Location of a success', (at) => ({ PLAY: (r) => rtspAnswer(r, '200 OK', ['Session: 1', `Location: ${at.url}`]) })],
];

/** Messages while the stream plays, and the reason that ends it. */
export const whilePlaying: [string, string, (at: Elsewhere) => (cseq: string) => string][] = [
  [
    'a request to go elsewhere',
    'redirect_refused',
    (at) => () => `REDIRECT ${at.url} RTSP/1.0\r\nCSeq: 1\r\nLocation: ${at.url}\r\n\r\n`,
  ],
  ['an unexpected redirect', 'redirect_refused', (at) => () => found(at, '99', '\r\n')],
  ['a smuggled answer', 'unreadable', (at) => (cseq) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\n\n${found(at, cseq, '\n')}`],
  ['bytes of nothing', 'unreadable', () => () => '\x01\x02\x03\x04'],
  ['a packet that is no RTP', 'unreadable', () => () => '$\x00\x00\x04\x01\x02\x03\x04'],
];

/** A server that behaves well until the stream plays. */
export const playing = (more: (cseq: string) => string): RtspScript => ({
  PLAY: (request) => `${rtspAnswer(request, '200 OK', ['Session: 1'])}${more(request.cseq)}`,
});
