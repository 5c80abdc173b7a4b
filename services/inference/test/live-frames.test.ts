import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../../examples/live-source.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, httpServer, opener, reasonOf, street, take, watch } from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';

let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

test('a closed port is retried until the time has expired, then the source is lost', async () => {
  let now = 0;
  // A clock that moves with each reading: its 900 ms are several connection attempts, on any machine.
  const live = watch(`http://127.0.0.1:${await freePort()}/x`, { giveUpMs: 900 }, { now: () => (now += 50) });
  expect(await reasonOf(live)).toBe('source_lost');
  expect(live.retries.length).toBeGreaterThan(2);
  expect(new Set(live.retries)).toEqual(new Set(['connection_failed']));
});

test.each(['http', 'https', 'rtsp', 'rtmp'])(
  'a stop while connecting to a silent %s port waits for no time limit',
  async (scheme) => {
    const silent = await tcpServer(() => undefined);
    atEnd(silent.close);
    const url = `${scheme}://127.0.0.1:${silent.port}/x/y`;
    const never = 3_600_000;
    const live = watch(url, { noFrameMs: never }, { openInput: opener(url, { openTimeoutMs: never }) });
    const next = live.frames.next();
    await until(() => silent.seen.connections > 0);
    live.stop();
    expect((await next).value).toBeUndefined();
  },
);

test('a source that stops sending is reconnected and continues', async () => {
  let connections = 0;
  const clip = await readFile(await videos.make('clip.ts', '-i', street, '-c', 'copy', '-f', 'mpegts'));
  const base = await httpServer((_req, res) => {
    connections += 1;
    res.writeHead(200).write(clip);
  });
  const live = watch(`${base}/x`, { noFrameMs: 8000 });
  for (let frame = 0; frame < 200 && connections < 2; frame += 1) await take(live, 1);
  expect(connections).toBeGreaterThanOrEqual(2);
  expect(await take(live, 1)).toHaveLength(1);
  expect(live.retries[0]).toBe('timeout');
});

test('a busy consumer gets the newest frame next and never makes the source reconnect', async () => {
  const source = await startLiveSource({ video: street });
  atEnd(source.close);
  const live = watch(source.url, { noFrameMs: 8000 });
  const [first] = await take(live, 1);
  const { reconnects } = live.health();
  // At five frames a second this takes longer than the maximum time without a frame.
  await until(() => live.health().state === 'blocked' && live.health().dropped >= 50);
  const [next] = await take(live, 1);
  // Frames are at least 50 ms apart; the oldest one waiting would be the next sample.
  expect((next?.timeMs ?? 0) - (first?.timeMs ?? 0)).toBeGreaterThanOrEqual(50 * 50);
  expect(live.health().reconnects).toBe(reconnects);
});

test('a stream that changes its size continues with the new size', async () => {
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
