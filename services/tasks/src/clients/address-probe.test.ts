import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import type { Lookup } from '@vision/shared/net/name-lookup';
import { authority, streamServer } from '@vision/shared/testing/certificates';
import { until } from '@vision/shared/testing/until';
import { parseStreamUrl } from '@vision/streams/stream-url';
import { createAddressProbe } from './address-probe.ts';

const policy = createAddressPolicy(['127.0.0.0/8']);
const sockets = new Set<Socket>();
let server: Server | undefined;
let heard = '';

beforeEach(() => {
  heard = '';
});
afterEach(async () => {
  sockets.forEach((socket) => socket.destroy());
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  server = undefined;
});

/** A peer that calls `reply` with all data received so far on the connection. */
async function peer(reply: (heard: Buffer, socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      heard += chunk.toString('latin1');
      reply(received, socket);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

// Expected events have no short timeout; only the wait for a peer that never ends is short.
const ample = { connectMs: 30_000, totalMs: 30_000 };
const brief = { connectMs: 30_000, totalMs: 300 };
const probe = (url: string, { connectMs, totalMs }: { connectMs: number; totalMs: number } = ample) =>
  createAddressProbe({ policy, connectMs })(parseStreamUrl(url, policy), AbortSignal.timeout(totalMs));
/** The same with a host name that resolves to the addresses. */
const probeByName = (url: string, lookup: Lookup, { cidrs = ['127.0.0.0/8'], ca }: ByName = {}) => {
  const named = createAddressPolicy(cidrs, { lookup });
  const run = createAddressProbe({ policy: named, connectMs: ample.connectMs, ca });
  return run(parseStreamUrl(url, policy), AbortSignal.timeout(ample.totalMs));
};
interface ByName {
  cidrs?: string[];
  ca?: string | undefined;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const http =
  (head: string, body: string | Buffer = '') =>
  (_heard: Buffer, socket: Socket) => {
    socket.write(`HTTP/1.1 ${head}\r\nConnection: close\r\n\r\n`);
    socket.end(body);
  };
const rtsp = (options: string, describe: string) => (received: Buffer, socket: Socket) => {
  const text = received.toString('latin1');
  const asked = text.split('\r\n\r\n').length - 1;
  const status = asked === 1 ? options : describe;
  if (status !== '') socket.write(`RTSP/1.0 ${status}\r\nCSeq: ${asked}\r\n\r\n`);
};
const handshake = (version: number, bytes: number) => (received: Buffer, socket: Socket) => {
  if (received.length >= 1537) socket.write(Buffer.concat([Buffer.from([version]), Buffer.alloc(bytes)]));
};
const ts = Buffer.alloc(376);
ts[0] = 0x47;
ts[188] = 0x47;

test.each([
  ['http', 'an MPEG-TS', http('200 OK\r\nContent-Type: video/mp2t', ts)],
  ['http', 'an HLS playlist', http('200 OK\r\nContent-Type: text/plain', '#EXTM3U\n')],
  ['http', 'motion JPEG', http('200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=x', '--x\r\n')],
  ['http', 'an MP4', http('206 Partial Content', Buffer.from('\0\0\0\x20ftypisom'))],
  ['rtsp', 'a camera', rtsp('200 OK', '200 OK')],
  ['rtsp', 'a camera that does not know OPTIONS', rtsp('501 Not Implemented', '200 OK')],
  ['rtsp', 'a camera that wants credentials', rtsp('401 Unauthorized', '401 Unauthorized')],
  [
    'rtsp',
    'a camera that leaves DESCRIBE alone',
    (received: Buffer, socket: Socket) => {
      if (received.includes('DESCRIBE')) socket.destroy();
      else rtsp('200 OK', '')(received, socket);
    },
  ],
  ['rtmp', 'a server', handshake(3, 3072)],
])('%s: accepts %s as a stream and leaves no socket open', async (scheme, _name, reply) => {
  const port = await peer(reply);
  await expect(probe(`${scheme}://127.0.0.1:${port}/live`)).resolves.toEqual({
    outcome: 'reached',
    pinnedAddress: '127.0.0.1',
  });
  await until(() => sockets.size === 0);
});

test.each([
  ['http', 'an HTML page', http('200 OK\r\nContent-Type: text/html', '<!doctype html><p>hello'), 'not_a_stream'],
  ['http', 'an HTML page declared as video', http('200 OK\r\nContent-Type: video/mp4', '\n <html>'), 'not_a_stream'],
  ['http', 'JSON', http('200 OK\r\nContent-Type: application/json', '{"a":1}'), 'not_a_stream'],
  [
    'http',
    'a container that the backend does not read',
    http('200 OK\r\nContent-Type: video/ogg', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(2_000)])),
    'not_a_stream',
  ],
  ['http', 'an empty body', http('200 OK\r\nContent-Type: video/mp4'), 'not_a_stream'],
  ['http', '404', http('404 Not Found', ts), 'refused'],
  ['http', '500', http('500 Oops', ts), 'refused'],
  [
    'http',
    'a redirect to a forbidden address',
    http('302 Found\r\nLocation: http://169.254.169.254/', ts),
    'redirected',
  ],
  ['http', 'garbage', (_h: Buffer, socket: Socket) => socket.end('garbage garbage\r\n\r\n'), 'not_a_stream'],
  ['http', 'silence', () => undefined, 'timeout'],
  ['http', 'a reset', (_h: Buffer, socket: Socket) => socket.resetAndDestroy(), 'connection_lost'],
  ['rtsp', 'no such stream', rtsp('200 OK', '404 Not Found'), 'refused'],
  ['rtsp', 'a server that fails', rtsp('500 Internal Server Error', '500 Internal Server Error'), 'refused'],
  ['rtsp', 'a redirect at OPTIONS', rtsp('302 Moved\r\nLocation: rtsp://10.0.0.1/', '200 OK'), 'redirected'],
  ['rtsp', 'a redirect at DESCRIBE', rtsp('200 OK', '301 Moved\r\nLocation: rtsp://10.0.0.1/'), 'redirected'],
  ['rtsp', 'garbage', (_h: Buffer, socket: Socket) => socket.write('SSH-2.0-x\r\n'), 'not_a_stream'],
  [
    'rtsp',
    'an answer that the backend does not read',
    (_h: Buffer, socket: Socket) => socket.write('RTSP/1.0 200 OK\nCSeq: 1\n\n'),
    'not_a_stream',
  ],
  [
    'rtsp',
    'an endless answer',
    (_h: Buffer, socket: Socket) => socket.write(`RTSP/1.0 200 OK\r\n${'x'.repeat(70_000)}`),
    'not_a_stream',
  ],
  ['rtsp', 'a drip of one byte', (_h: Buffer, socket: Socket) => socket.write('R'), 'timeout'],
  ['rtsp', 'silence', () => undefined, 'timeout'],
  ['rtsp', 'a reset', (_h: Buffer, socket: Socket) => socket.resetAndDestroy(), 'connection_lost'],
  ['rtmp', 'another version', handshake(6, 3072), 'not_a_stream'],
  ['rtmp', 'half a handshake', handshake(3, 100), 'timeout'],
  ['rtmp', 'an HTTP server', (_h: Buffer, socket: Socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n'), 'not_a_stream'],
  ['rtmp', 'silence', () => undefined, 'timeout'],
])('%s: refuses %s and leaves no socket open', async (scheme, _name, reply, fault) => {
  const port = await peer(reply);
  const limits = fault === 'timeout' ? brief : ample;
  await expect(probe(`${scheme}://127.0.0.1:${port}/live`, limits)).resolves.toMatchObject({ fault });
  await until(() => sockets.size === 0);
});

test.each(['http', 'https', 'rtsp', 'rtmp'])('%s: a closed port is refused', async (scheme) => {
  await expect(probe(`${scheme}://127.0.0.1:1/`)).resolves.toMatchObject({ fault: 'connect_failed' });
});

test('sends credentials to an HTTP server as Basic, and never in an RTSP probe', async () => {
  const port = await peer(http('200 OK', ts));
  await expect(probe(`http://us%40er:pass@127.0.0.1:${port}/a?b=c`)).resolves.toMatchObject({ outcome: 'reached' });
  expect(heard.toLowerCase()).toContain(`authorization: basic ${base64('us@er:pass').toLowerCase()}`);
  expect(heard).toContain('GET /a?b=c HTTP/1.1');
  const second = server;
  heard = '';
  const other = await peer(rtsp('401 Unauthorized', '401 Unauthorized'));
  await expect(probe(`rtsp://user:canary@127.0.0.1:${other}/a`)).resolves.toMatchObject({ outcome: 'reached' });
  expect(heard).not.toContain('canary');
  expect(heard).toContain(`OPTIONS rtsp://127.0.0.1:${other}/a RTSP/1.0`);
  second?.close();
});

test('retries once with Digest; a camera that still refuses is unreachable', async () => {
  const challenge = 'WWW-Authenticate: Digest realm="camera", nonce="abc", qop="auth"';
  const port = await peer((received, socket) => {
    const isAnswered = /\r\nauthorization: digest username="user", realm="camera"/i.test(received.toString('latin1'));
    if (isAnswered) http('200 OK', ts)(received, socket);
    else http(`401 Unauthorized\r\n${challenge}`)(received, socket);
  });
  await expect(probe(`http://user:secret@127.0.0.1:${port}/mjpg/video.mjpg`)).resolves.toMatchObject({
    outcome: 'reached',
  });
  expect(heard.match(/^GET /gm)).toHaveLength(2);
  expect(heard.slice(heard.lastIndexOf('GET '))).not.toContain('secret');
  await expect(probe(`http://127.0.0.1:${port}/`)).resolves.toMatchObject({ fault: 'refused' });
  await expect(probe(`http://other:secret@127.0.0.1:${port}/`)).resolves.toMatchObject({ fault: 'refused' });
});

test('resolves a name once and connects to the checked address', async () => {
  let asked = 0;
  const lookup = async () => {
    asked += 1;
    return ['127.0.0.1'];
  };
  const port = await peer(handshake(3, 3072));
  await probeByName(`rtmp://camera.example.org:${port}/`, lookup);
  expect(asked).toBe(1);
});

test('never connects to a name that resolves to a forbidden address', async () => {
  let hits = 0;
  const port = await peer(() => undefined);
  server?.on('connection', () => (hits += 1));
  const run = probeByName(`http://camera.example.org:${port}/`, async () => ['8.8.8.8', '127.0.0.1'], { cidrs: [] });
  await expect(run).resolves.toMatchObject({ fault: 'address_forbidden' });
  expect(hits).toBe(0);
});

test('http: a stream that begins with a few bytes and stays open is a stream', async () => {
  const port = await peer((_received, socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\n\r\n');
    socket.write(Buffer.from('464c5601050000000900000000', 'hex'));
  });
  await expect(probe(`http://127.0.0.1:${port}/live`)).resolves.toEqual({
    outcome: 'reached',
    pinnedAddress: '127.0.0.1',
  });
  await until(() => sockets.size === 0);
});

test('https: sends its request only to a server with a certificate of its name', async () => {
  let requests = 0;
  const secure = createTlsServer(streamServer, (_req, res) => {
    requests += 1;
    res.end(ts);
  }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const { port } = secure.address() as AddressInfo;
  const ask = (host: string, ca?: string) =>
    probeByName(`https://user:canary@${host}:${port}/live`, async () => ['127.0.0.1'], { ca });
  try {
    await expect(ask(streamServer.host)).resolves.toMatchObject({ fault: 'tls_invalid' });
    await expect(ask('camera.example.org', authority)).resolves.toMatchObject({ fault: 'tls_invalid' });
    await expect(ask('127.0.0.1', authority)).resolves.toMatchObject({ fault: 'tls_invalid' });
    expect(requests).toBe(0);
    await expect(ask(streamServer.host, authority)).resolves.toEqual({
      outcome: 'reached',
      pinnedAddress: '127.0.0.1',
    });
  } finally {
    secure.close();
    secure.closeAllConnections();
  }
});

test('http: an answer that switches to another protocol is no stream and ends the probe at once', async () => {
  const port = await peer(http('101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x'));
  expect(await probe(`http://127.0.0.1:${port}/`)).toEqual({ outcome: 'unreachable', fault: 'not_a_stream' });
});
