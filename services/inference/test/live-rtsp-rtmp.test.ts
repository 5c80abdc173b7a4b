import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { rtmpServer, tcpServer } from './support/live-servers.ts';
import {
  atEnd,
  commandLines,
  expectStreetFrames,
  opener,
  reasonOf,
  street,
  take,
  watch,
} from './support/live-watch.ts';
import { info, scriptedRtmp } from './support/scripted-rtmp.ts';
import { scriptedRtsp } from './support/scripted-rtsp.ts';
import { rtspServer } from './support/rtsp-server.ts';
import { videoDirectory } from './support/videos.ts';

let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

test('RTMP gives frames, and no argument of a process shows the key in its path', async () => {
  // The quote would end a word of the list that ffmpeg reads.
  const source = await rtmpServer(street, "/live/canary-key's");
  atEnd(source.close);
  const live = watch(`rtmp://127.0.0.1:${source.port}/live/canary-key's`);
  await take(live, 1);
  expect((await commandLines()).filter((line) => line.includes('canary-key') && !line.includes('-listen'))).toEqual([]);
  await expectStreetFrames(live);
});

test('RTSP with a password gives frames; ffmpeg is given neither the password nor the path', async () => {
  // A camera sends a key frame about every second; the clip has one only at its start.
  const camera = await videos.make(
    'camera.mp4',
    '-i',
    street,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-g',
    '10',
    '-crf',
    '36',
  );
  const source = await rtspServer(camera, {
    path: '/cam/canary-path',
    user: { name: 'us er', password: 'pa:ss@canary' },
  });
  atEnd(source.close);
  const live = watch(`rtsp://us%20er:pa%3Ass%40canary@127.0.0.1:${source.port}/cam/canary-path`);
  await take(live, 1);
  expect((await commandLines()).filter((line) => line.includes('canary'))).toEqual([]);
  expect(new Set(source.requests.map(({ uri }) => uri.replace(/\/track1$/, '').replace(/\/$/, '')))).toEqual(
    new Set([`rtsp://127.0.0.1:${source.port}/cam/canary-path`]),
  );
  await expectStreetFrames(live);
});

test.each(['redirectTo', 'redirectLater'] as const)('an RTSP server cannot send us elsewhere (%s)', async (how) => {
  const inner = await tcpServer(() => undefined);
  atEnd(inner.close);
  const source = await rtspServer(street, { path: '/cam', [how]: `rtsp://127.0.0.1:${inner.port}/cam` });
  atEnd(source.close);
  expect(await reasonOf(watch(`rtsp://127.0.0.1:${source.port}/cam`))).toBe('redirect_refused');
  expect(inner.seen.connections).toBe(0);
});

test('RTSP refusals end the job at once', async () => {
  const source = await rtspServer(street, { path: '/cam', user: { name: 'a', password: 'b' } });
  atEnd(source.close);
  expect(await reasonOf(watch(`rtsp://a:wrong@127.0.0.1:${source.port}/cam`))).toBe('auth_failed');
  expect(await reasonOf(watch(`rtsp://127.0.0.1:${source.port}/cam`))).toBe('auth_failed');
  expect(await reasonOf(watch(`rtsp://a:b@127.0.0.1:${source.port}/other`))).toBe('not_found');
});

test.each(['rtsp', 'rtmp'])(
  '%s: a server that says nothing has the time for opening, not that for frames',
  async (scheme) => {
    const silent = await tcpServer(() => undefined);
    atEnd(silent.close);
    const url = `${scheme}://127.0.0.1:${silent.port}/cam`;
    const live = watch(url, { noFrameMs: 3_600_000 }, { openInput: opener(url, { openTimeoutMs: 1000 }) });
    const asked = take(live, 1);
    await until(() => live.retries.length > 0);
    live.stop();
    await asked;
  },
);

test('a server that disconnects before its first frame is retried', async () => {
  const rtsp = await scriptedRtsp({}, { closesAfter: 'PLAY' });
  const stop = info({ level: 'status', code: 'NetStream.Play.Stop' });
  const rtmp = await scriptedRtmp({ play: (viewer) => viewer.say('onStatus', 0, null, stop) });
  for (const url of [`rtsp://127.0.0.1:${rtsp.port}/cam`, `rtmp://127.0.0.1:${rtmp.port}/live/cam`]) {
    const live = watch(url);
    const next = live.frames.next();
    await until(() => live.retries.length >= 2);
    expect(new Set(live.retries)).toEqual(new Set(['stream_ended']));
    live.stop();
    await next;
  }
  rtsp.close();
  rtmp.close();
});
