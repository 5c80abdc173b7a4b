import { createServer } from 'node:http';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../../examples/live-source.ts';
import {
  LIVE_DEFAULTS,
  type LiveDeps,
  type LiveFrame,
  type LiveSettings,
  watchLive,
} from '../src/video/live-frames.ts';
import { openLiveInput } from '../src/video/open-live-input.ts';
import { SourceError } from '../src/video/source-error.ts';
import { freePort, rtmpServer, tcpServer } from './support/live-servers.ts';
import { rtspServer } from './support/rtsp-server.ts';
import { videoDirectory } from './support/videos.ts';

// ffmpeg and the model share the machine with everything else that is tested.
jest.setTimeout(90_000);

const street = new URL('../../../examples/street.mp4', import.meta.url).pathname;
const closing: (() => unknown)[] = [];
let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterEach(async () => {
  while (closing.length > 0) await closing.pop()?.();
});
afterAll(() => videos.remove());

function watch(url: string, settings: Partial<LiveSettings> = {}, deps: Partial<LiveDeps> = {}) {
  const ended = new AbortController();
  const retries: string[] = [];
  const startedAt = Date.now();
  const live = watchLive(
    {
      openInput: (isFirst, signal) =>
        openLiveInput({ resolve: async (host) => host, openTimeoutMs: 2000 }, { url }, { isFirst, signal }),
      now: Date.now,
      onRetry: (reason) => retries.push(reason),
      ...deps,
    },
    { ...LIVE_DEFAULTS, backoff: { minMs: 100, maxMs: 200 }, ...settings },
    ended.signal,
  );
  closing.push(() => ended.abort());
  return { ...live, retries, startedAt, stop: () => ended.abort() };
}

async function take(live: { frames: AsyncGenerator<LiveFrame, void> }, count: number): Promise<LiveFrame[]> {
  const frames: LiveFrame[] = [];
  while (frames.length < count) {
    const { value } = await live.frames.next();
    if (!value) break;
    frames.push(value);
  }
  return frames;
}

const reasonOf = (live: { frames: AsyncGenerator<LiveFrame, void> }) =>
  take(live, 1).then(
    () => 'frames',
    (error: unknown) => (error instanceof SourceError ? error.reason : error),
  );

async function expectStreetFrames(live: ReturnType<typeof watch>): Promise<void> {
  const frames = await take(live, 8);
  expect(frames.every((frame) => frame.image.width === 768 && frame.image.height === 576)).toBe(true);
  const times = frames.map((frame) => frame.timeMs);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // Frames that come in a burst stand closer than the 200 ms of sampling, but never closer than the clock lets them.
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(50);
  expect(times[0]).toBeGreaterThanOrEqual(live.startedAt);
  expect(times[7]).toBeLessThanOrEqual(Date.now() + 101);
  live.stop();
  expect((await live.frames.next()).value).toBeUndefined();
}

/** An HTTP server of one answer; returns its address. */
async function httpServer(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('MPEG-TS over HTTP gives frames in the rhythm of the wall clock', async () => {
  const source = await startLiveSource({ video: street });
  closing.push(source.close);
  await expectStreetFrames(watch(source.url));
});

test('RTMP gives frames, and no argument of a process shows the key in its path', async () => {
  const source = await rtmpServer(street, '/live/canary-key');
  closing.push(source.close);
  const live = watch(`rtmp://127.0.0.1:${source.port}/live/canary-key`);
  await take(live, 1);
  expect((await commandLines()).filter((line) => line.includes('ffconcat') || line.includes('concat'))).not.toEqual([]);
  expect((await commandLines()).filter((line) => line.includes('canary-key') && !line.includes('-listen'))).toEqual([]);
  await expectStreetFrames(live);
});

test('RTSP with a password gives frames; ffmpeg is given neither the password nor the path', async () => {
  // A camera sends a picture that stands for itself every second or so; the clip has one at its start only.
  const camera = await videos.make('camera.mp4', '-i', street, '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10');
  const source = await rtspServer(camera, {
    path: '/cam/canary-path',
    user: { name: 'us er', password: 'pa:ss@canary' },
  });
  closing.push(source.close);
  const live = watch(`rtsp://us%20er:pa%3Ass%40canary@127.0.0.1:${source.port}/cam/canary-path`);
  await take(live, 1);
  expect((await commandLines()).filter((line) => line.includes('canary'))).toEqual([]);
  expect(new Set(source.requests.map(({ uri }) => uri.replace(/\/track1$/, '').replace(/\/$/, '')))).toEqual(
    new Set([`rtsp://127.0.0.1:${source.port}/cam/canary-path`]),
  );
  await expectStreetFrames(live);
});

test('an HLS stream is fetched here and read piece by piece until its end', async () => {
  const make = ['-i', street, '-c', 'copy', '-hls_time', '2', '-hls_list_size', '0', '-hls_playlist_type', 'vod'];
  await videos.make('hls.m3u8', ...make, '-hls_segment_filename', `${videos.directory}/piece%d.ts`);
  const master = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=768x576\nhls.m3u8\n';
  const base = await httpServer((req, res) => {
    const name = req.url?.slice(1) ?? '';
    if (name === 'master.m3u8') res.end(master);
    else
      readFile(`${videos.directory}/${name}`).then(
        (bytes) => res.end(bytes),
        () => res.writeHead(404).end(),
      );
  });
  const frames = await take(watch(`${base}/master.m3u8`), 1000);
  expect(frames.length).toBeGreaterThanOrEqual(50);
});

test('a playlist reaches only addresses that pass the rules, and a key that a stranger names is not fetched', async () => {
  const inner = await tcpServer(() => undefined);
  closing.push(inner.close);
  const lines = [
    '#EXTM3U',
    '#EXT-X-TARGETDURATION:2',
    `#EXT-X-KEY:METHOD=AES-128,URI="http://localhost:${inner.port}/key"`,
  ];
  const base = await httpServer((_req, res) =>
    res.end([...lines, '#EXTINF:2,', 'a.ts', '#EXT-X-ENDLIST', ''].join('\n')),
  );
  const resolve = async (host: string) => {
    if (host !== '127.0.0.1') throw new SourceError('address_forbidden');
    return host;
  };
  const openInput: LiveDeps['openInput'] = (isFirst, signal) =>
    openLiveInput({ resolve, openTimeoutMs: 2000 }, { url: `${base}/x` }, { isFirst, signal });
  expect(await reasonOf(watch(base, {}, { openInput }))).toBe('address_forbidden');
  expect(inner.seen.connections).toBe(0);
});

test.each(['redirectTo', 'redirectLater'] as const)(
  'an RTSP server cannot send us elsewhere (%s)',
  async (how) => {
    const inner = await tcpServer(() => undefined);
    closing.push(inner.close);
    const source = await rtspServer(street, { path: '/cam', [how]: `rtsp://127.0.0.1:${inner.port}/cam` });
    closing.push(source.close);
    expect(await reasonOf(watch(`rtsp://127.0.0.1:${source.port}/cam`))).toBe('redirect_refused');
    expect(inner.seen.connections).toBe(0);
  },
  20_000,
);

test('HTTP redirects, refusals and pages end the job at once', async () => {
  const inner = await tcpServer(() => undefined);
  closing.push(inner.close);
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
    ...{ redirect: 'redirect_refused', html: 'unreadable', 401: 'auth_failed', 403: 'auth_failed', 404: 'not_found' },
  });
  expect(inner.seen.connections).toBe(0);
});

test('RTSP refusals end the job at once', async () => {
  const source = await rtspServer(street, { path: '/cam', user: { name: 'a', password: 'b' } });
  closing.push(source.close);
  expect(await reasonOf(watch(`rtsp://a:wrong@127.0.0.1:${source.port}/cam`))).toBe('auth_failed');
  expect(await reasonOf(watch(`rtsp://127.0.0.1:${source.port}/cam`))).toBe('auth_failed');
  expect(await reasonOf(watch(`rtsp://a:b@127.0.0.1:${source.port}/other`))).toBe('not_found');
});

test('a closed port is tried again until the time is up, then the source is lost', async () => {
  const live = watch(`http://127.0.0.1:${await freePort()}/x`, { giveUpMs: 900 });
  expect(await reasonOf(live)).toBe('source_lost');
  expect(live.retries.length).toBeGreaterThan(2);
  expect(new Set(live.retries)).toEqual(new Set(['connection_failed']));
});

test.each(['http', 'rtsp', 'rtmp'])(
  'a stop while connecting to a silent %s port ends in well under five seconds',
  async (scheme) => {
    const silent = await tcpServer(() => undefined);
    closing.push(silent.close);
    const live = watch(`${scheme}://127.0.0.1:${silent.port}/x/y`, {}, {});
    const next = live.frames.next();
    await until(() => silent.seen.connections > 0);
    const before = performance.now();
    live.stop();
    expect((await next).value).toBeUndefined();
    expect(performance.now() - before).toBeLessThan(4000);
  },
  20_000,
);

test('a source that falls silent is connected to anew and goes on', async () => {
  let connections = 0;
  const clip = await readFile(await videos.make('clip.ts', '-i', street, '-c', 'copy', '-f', 'mpegts'));
  const base = await httpServer((_req, res) => {
    connections += 1;
    res.writeHead(200).write(clip);
  });
  const live = watch(`${base}/x`, { noFrameMs: 1500 });
  for (let frame = 0; frame < 200 && connections < 2; frame += 1) await take(live, 1);
  expect(connections).toBe(2);
  expect(await take(live, 1)).toHaveLength(1);
  expect(live.retries[0]).toBe('timeout');
});

test('a consumer that is busy drops frames and never makes the source connect anew', async () => {
  const source = await startLiveSource({ video: street });
  closing.push(source.close);
  const live = watch(source.url, { noFrameMs: 1000 });
  await take(live, 1);
  await until(() => live.health().state === 'blocked' && live.health().dropped >= 15, { timeoutMs: 10_000 });
  const [frame] = await take(live, 1);
  expect(Date.now() - (frame?.timeMs ?? 0)).toBeLessThan(600);
  expect(live.health().reconnects).toBe(0);
});

test('a stream that changes its size goes on with the new size', async () => {
  const small = ['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=25:d=3'];
  const large = ['-f', 'lavfi', '-i', 'testsrc2=s=640x480:r=25:d=60'];
  const encode = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-f', 'mpegts'];
  const parts = [await videos.make('a.ts', ...small, ...encode), await videos.make('b.ts', ...large, ...encode)];
  const [a = Buffer.of(), b = Buffer.of()] = await Promise.all(parts.map((path) => readFile(path)));
  let connections = 0;
  const base = await httpServer((_req, res) => {
    connections += 1;
    res.writeHead(200);
    res.write(connections === 1 ? a : b);
    res.write(b);
  });
  const live = watch(`${base}/x`);
  const widths = new Set<number>();
  for (let frame = 0; frame < 30 && widths.size < 2; frame += 1) widths.add((await take(live, 1))[0]?.image.width ?? 0);
  expect([...widths]).toEqual([320, 640]);
  expect(live.retries).toEqual(['format_changed']);
});

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}
