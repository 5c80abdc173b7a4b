import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authority, streamServer } from '@vision/shared/testing/certificates';
import { startLiveSource } from '../../../examples/live-source.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, expectStreetFrames, httpServer, opener, reasonOf, street, take, watch } from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';

let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

test('MPEG-TS over HTTP returns frames at the pace of the wall clock', async () => {
  const source = await startLiveSource({ video: street });
  atEnd(source.close);
  await expectStreetFrames(watch(source.url));
});

test('HTTP redirects, refusals and pages end the job at once', async () => {
  const inner = await tcpServer(() => undefined);
  atEnd(inner.close);
  const base = await httpServer((req, res) => {
    if (req.url === '/redirect') res.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end();
    else if (req.url === '/html') res.writeHead(200).end(`<html>${' '.repeat(2000)}</html>`);
    else res.writeHead(Number(req.url?.slice(1))).end();
  });
  const reasons = Object.fromEntries(
    await Promise.all(
      ['redirect', 'html', '401', '403', '404'].map(
        async (path) => [path, await reasonOf(watch(`${base}/${path}`))] as const,
      ),
    ),
  );
  expect(reasons).toEqual({
    redirect: 'redirect_refused',
    html: 'unreadable',
    401: 'auth_failed',
    403: 'auth_failed',
    404: 'not_found',
  });
  expect(inner.seen.connections).toBe(0);
});

test('a server without a valid certificate of its name receives nothing, not even the requested path', async () => {
  const clip = await readFile(await videos.make('clip.ts', '-i', street, '-c', 'copy', '-f', 'mpegts'));
  let requests = 0;
  const base = await httpServer((_req, res) => {
    requests += 1;
    res.writeHead(200).write(clip);
  }, streamServer);
  const { port } = new URL(base);
  const connect = (host: string, ca?: string) => {
    const url = `https://user:canary@${host}:${port}/x`;
    const resolve = async () => '127.0.0.1';
    return watch(url, {}, { openInput: opener(url, { resolve, ca }) });
  };
  expect(await reasonOf(connect(streamServer.host))).toBe('tls_invalid');
  expect(await reasonOf(connect('camera.example.org', authority))).toBe('tls_invalid');
  expect(await reasonOf(connect('127.0.0.1', authority))).toBe('tls_invalid');
  expect(requests).toBe(0);
  expect((await take(connect(streamServer.host, authority), 1))[0]?.image).toEqual({ width: 768, height: 576 });
});

test('motion JPEG, which carries no times, is sampled by the clock', async () => {
  const picture = await readFile(new URL('../../../examples/street.jpg', import.meta.url));
  let sent = 0;
  const base = await httpServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' });
    const timer = setInterval(() => {
      res.write(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}\r\n\r\n`);
      res.write(picture);
      res.write('\r\n');
      sent += 1;
    }, 1000);
    res.once('close', () => clearInterval(timer));
  });
  const live = watch(`${base}/x`);
  await take(live, 1);
  const before = sent;
  await take(live, 8);
  // Every frame is in its own fifth of a second, so each is a sample; counted as 25 a second, only each fifth would be.
  // Frames are a second apart, so that a busy machine does not read two together.
  expect(sent - before).toBeLessThan(24);
  live.stop();
});
