import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { until } from '@vision/shared/testing/until';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, fileServer, street } from './support/live-watch.ts';
import { descendants } from './support/processes.ts';
import { rtspAnswer, scriptedRtsp, SDP } from './support/scripted-rtsp.ts';
import { rtspServer } from './support/rtsp-server.ts';
import { videoDirectory } from './support/videos.ts';

let world: JobWorld;
let inference: JobService;
let videos: Awaited<ReturnType<typeof videoDirectory>>;
let camera: string;

// Nothing but its own deadline ends a probe.
const HOUR_MS = '3600000';
const start = (env: Record<string, string> = {}) => world.start({ SOURCE_OPEN_MS: HOUR_MS, ...env });

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
  const every = ['-g', '10', '-crf', '30'];
  camera = await videos.make('camera.mp4', '-i', street, '-c:v', 'libx264', '-preset', 'ultrafast', ...every);
  inference = await start();
});
afterAll(async () => {
  await inference.close();
  await world.close();
  await videos.remove();
});

/** Decoders and readers of streams that this process has started. */
const decoders = () => descendants().filter((line) => /ffmpeg .*-nostats|reader-process/.test(line));

test('a stream shows codec, size, rate and one frame, whose people are found, and leaves nothing behind', async () => {
  const user = { name: 'us er', password: 'pa:ss@canary' };
  const source = await rtspServer(camera, { path: '/cam/canary-path', user });
  atEnd(source.close);
  const url = `rtsp://us%20er:pa%3Ass%40canary@127.0.0.1:${source.port}/cam/canary-path`;
  const { status, body, processorMs } = await inference.probe({ url, scene_code: 'person_vehicle', min_score: 0.5 });
  expect([status, body.codec, body.image, body.problem]).toEqual([200, 'h264', { width: 768, height: 576 }, undefined]);
  expect(body.fps).toBeGreaterThan(8);
  expect(body.fps).toBeLessThan(12);
  const jpeg = Buffer.from(body.snapshot?.data ?? '', 'base64');
  // The service blocks the loaders of its process, which is that of this test as well.
  sharp.unblock({ operation: ['VipsForeignLoad'] });
  const { width, height, exif } = await sharp(jpeg).metadata();
  sharp.block({ operation: ['VipsForeignLoad'] });
  expect([body.snapshot?.media_type, width, height, exif]).toEqual(['image/jpeg', 768, 576, undefined]);
  expect(body.objects?.filter(({ label }) => label === 'person').length).toBeGreaterThan(1);
  expect(processorMs).toBeGreaterThan(50);
  expect((await inference.get('/v1/active-jobs')).body.jobs).toEqual([]);
  // The kernel may still be taking down what has closed its pipes.
  await until(() => decoders().length === 0);
  expect(world.log.join('')).not.toMatch(/canary|\/9j\//);
});

test('without a wish for it there is no frame in the answer, and without a scene no object', async () => {
  const source = await serveVideo(camera);
  atEnd(() => source.close());
  const { body } = await inference.probe({ url: source.url, snapshot: false });
  expect(body).toEqual({ codec: 'h264', image: { width: 768, height: 576 }, fps: expect.any(Number) as unknown });
});

test.each<[string, () => Promise<string>, string]>([
  [
    'a wrong password',
    async () => {
      const source = await rtspServer(camera, { path: '/cam', user: { name: 'a', password: 'b' } });
      atEnd(source.close);
      return `rtsp://a:wrong@127.0.0.1:${source.port}/cam`;
    },
    'auth_failed',
  ],
  [
    'a codec that is not decoded',
    async () => {
      const sdp = SDP.replace('H264', 'VP9');
      const source = await scriptedRtsp({
        DESCRIBE: (asked) => rtspAnswer(asked, '200 OK', ['Content-Type: application/sdp'], sdp),
      });
      atEnd(source.close);
      return `rtsp://127.0.0.1:${source.port}/cam`;
    },
    'codec_unsupported',
  ],
  [
    'sound alone',
    async () => {
      await videos.make('sound.ts', '-f', 'lavfi', '-i', 'sine=d=30', '-c:a', 'mp2', '-f', 'mpegts');
      return `${await fileServer(videos.directory)}/sound.ts`;
    },
    'no_video_track',
  ],
  [
    'a redirect',
    async () => {
      const source = await rtspServer(camera, { path: '/cam', redirectTo: 'rtsp://127.0.0.1:1/cam' });
      atEnd(source.close);
      return `rtsp://127.0.0.1:${source.port}/cam`;
    },
    'no_frame',
  ],
])('of a stream with %s the answer says why there is no frame', async (_name, urlOf, reason) => {
  const { status, body, processorMs } = await inference.probe({ url: await urlOf() });
  expect([status, body]).toEqual([200, { problem: { reason } }]);
  expect(processorMs).toBeGreaterThan(0);
});

test('a camera that plays and sends nothing is left at the deadline, and its processes are gone', async () => {
  const silent = await scriptedRtsp({});
  atEnd(silent.close);
  const asked = inference.probe({ url: `rtsp://127.0.0.1:${silent.port}/cam`, within_ms: 30_000 });
  await until(() => silent.requests.some(({ method }) => method === 'PLAY'));
  expect(decoders().length).toBeGreaterThan(0);
  expect(await asked).toMatchObject({ status: 200, body: { problem: { reason: 'no_frame' } } });
  await until(() => decoders().length === 0);
});

test('a client that leaves ends the processes of its probe', async () => {
  const silent = await scriptedRtsp({});
  atEnd(silent.close);
  const leaving = new AbortController();
  const asked = inference.probe({ url: `rtsp://127.0.0.1:${silent.port}/cam`, within_ms: 60_000 }, leaving.signal);
  await until(() => silent.requests.some(({ method }) => method === 'PLAY'));
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await until(() => decoders().length === 0);
});

test('beyond its slots a worker refuses at once, and a slot is free when its probe has ended', async () => {
  const narrow = await start({ STREAM_PROBES_PER_WORKER: '1' });
  const silent = await tcpServer(() => undefined);
  atEnd(silent.close);
  const url = `rtsp://127.0.0.1:${silent.port}/cam`;
  const leaving = new AbortController();
  const first = narrow.probe({ url, within_ms: 60_000 }, leaving.signal).catch(() => undefined);
  await until(() => silent.seen.connections === 1);
  expect(await narrow.probe({ url })).toMatchObject({ status: 503, body: { reason: 'saturated' } });
  leaving.abort();
  await first;
  const source = await serveVideo(camera);
  atEnd(() => source.close());
  await until(async () => (await narrow.probe({ url: source.url })).status === 200);
  await narrow.close();
});

test.each([
  ['an unknown scene', { scene_code: 'no_such_scene' }, 'scene_unknown'],
  ['a field that is not known', { colour: 'red' }, 'request_invalid'],
  ['no time', { within_ms: 0 }, 'request_invalid'],
])('a request with %s is refused', async (_name, more, reason) => {
  const answer = await inference.probe({ url: 'rtsp://127.0.0.1:1/cam', ...more });
  expect([answer.status, answer.body]).toEqual([422, { reason }]);
});

test('an address that is not allowed is never connected to', async () => {
  const strict = await start({ STREAM_ALLOWED_CIDRS: '' });
  const inner = await tcpServer(() => undefined);
  atEnd(inner.close);
  const answer = await strict.probe({ url: `rtsp://127.0.0.1:${inner.port}/cam` });
  expect(answer.body).toEqual({ problem: { reason: 'no_frame' } });
  expect(inner.seen.connections).toBe(0);
  await strict.close();
});

test('the capacity names probes, so that an older backend is not asked for them', async () => {
  const { body } = await inference.get('/v1/capacity');
  expect((body as { features?: string[] }).features).toContain('stream_probes');
});
