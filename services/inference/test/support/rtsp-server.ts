import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createRtspReader, formatMessage, headerOf } from '@vision/streams/rtsp-message';
import type { RtspMessage } from '@vision/streams/rtsp-message';
import { until } from '@vision/shared/testing/until';
import { tcpServer } from './live-servers.ts';

export interface RtspServerOptions {
  /** The one path that exists. */
  path: string;
  /** Required by Digest authentication. */
  user?: { name: string; password: string };
  /** Target to which DESCRIBE is redirected. */
  redirectTo?: string;
  /** Target of a REDIRECT request that the server sends to a playing client. */
  redirectLater?: string;
}

const NONCE = 'f1d2d2f924e986ac86fdf7b36c94bcdf';
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** An RTSP 1.0 server for clients over TCP: ffmpeg sends the file as RTP packets, in a loop and in real time. */
export async function rtspServer(file: string, options: RtspServerOptions) {
  const rtp = await startRtp(file);
  const requests: { method: string; uri: string }[] = [];
  const server = await tcpServer((socket) => {
    const read = createRtspReader();
    socket.on('data', (chunk: Buffer) => {
      for (const part of read(chunk)) {
        if (part.kind === 'packet') continue;
        const [method = '', uri = ''] = part.startLine.split(' ');
        requests.push({ method, uri });
        answer(socket, part, { method, uri, rtp, options });
      }
    });
    socket.once('close', () => rtp.viewers.delete(socket));
  });
  return {
    port: server.port,
    requests,
    seen: server.seen,
    close: () => {
      server.close();
      rtp.close();
    },
  };
}

interface Asked {
  method: string;
  uri: string;
  rtp: Awaited<ReturnType<typeof startRtp>>;
  options: RtspServerOptions;
}

function answer(socket: Socket, request: RtspMessage, { method, uri, rtp, options }: Asked): void {
  const reply = (status: string, headers: [string, string][] = [], body = '') => {
    const cseq: [string, string] = ['CSeq', headerOf(request, 'cseq') ?? '0'];
    socket.write(formatMessage(`RTSP/1.0 ${status}`, [cseq, ...headers], Buffer.from(body)));
  };
  const session: [string, string] = ['Session', '4711;timeout=60'];
  if (method === 'OPTIONS') {
    reply('200 OK', [['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN']]);
  } else if (options.user && !isAllowed(headerOf(request, 'authorization') ?? '', method, options.user)) {
    reply('401 Unauthorized', [['WWW-Authenticate', `Digest realm="cam", nonce="${NONCE}"`]]);
  } else if (!new URL(uri).pathname.startsWith(options.path)) {
    reply('404 Not Found');
  } else if (method === 'DESCRIBE' && options.redirectTo) {
    reply('302 Found', [['Location', options.redirectTo]]);
  } else if (method === 'DESCRIBE') {
    const body = `${rtp.sdp}a=control:track1\r\n`;
    const length: [string, string] = ['Content-Length', `${body.length}`];
    reply('200 OK', [['Content-Base', `${uri}/`], ['Content-Type', 'application/sdp'], length], body);
  } else if (method === 'SETUP') {
    reply('200 OK', [session, ['Transport', headerOf(request, 'transport') ?? '']]);
  } else {
    reply('200 OK', [session]);
    if (method === 'PLAY') play(socket, uri, { rtp, options });
  }
}

function play(socket: Socket, uri: string, { rtp, options }: Pick<Asked, 'rtp' | 'options'>): void {
  rtp.viewers.add(socket);
  const headers: [string, string][] = [
    ['CSeq', '1'],
    ['Location', options.redirectLater ?? ''],
  ];
  if (options.redirectLater) socket.write(formatMessage(`REDIRECT ${uri} RTSP/1.0`, headers, Buffer.of()));
}

function isAllowed(header: string, method: string, user: { name: string; password: string }): boolean {
  const field = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(header)?.[1] ?? '';
  const ha1 = md5(`${user.name}:cam:${user.password}`);
  return (
    field('response') === md5(`${ha1}:${NONCE}:${md5(`${method}:${field('uri')}`)}`) && field('username') === user.name
  );
}

/** RTP of the file on a loopback port, passed to every viewer as interleaved channel 0. */
async function startRtp(file: string) {
  const viewers = new Set<Socket>();
  // Packets that arrive while this process is busy must not be lost: a viewer over TCP gets every packet of a camera.
  const udp = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  const target = `rtp://127.0.0.1:${udp.address().port}?pkt_size=1200`;
  const args = [
    '-v',
    'error',
    '-nostdin',
    '-re',
    '-stream_loop',
    '-1',
    '-i',
    file,
    '-an',
    '-c',
    'copy',
    '-f',
    'rtp',
    target,
  ];
  const child = spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let sdp = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (sdp += text));
  udp.on('message', (packet) => {
    const head = Buffer.from([0x24, 0, packet.length >> 8, packet.length & 0xff]);
    viewers.forEach((viewer) => viewer.write(Buffer.concat([head, packet])));
  });
  await once(udp, 'message');
  // ffmpeg writes the description first, but over another channel than the packets.
  await until(() => sdp.endsWith('\n\n'));
  return {
    viewers,
    sdp: `${sdp
      .replace(/^SDP:\s*/, '')
      .replace(/m=video \d+/, 'm=video 0')
      .trim()
      .split(/\r?\n/)
      .join('\r\n')}\r\n`,
    close: () => {
      child.kill('SIGKILL');
      udp.close();
    },
  };
}
