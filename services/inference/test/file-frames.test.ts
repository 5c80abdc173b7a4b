import { createHash } from 'node:crypto';
import { copyFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { readFileFrames } from '../src/decoding/file-frames.ts';
import type { FileFrame, FileFramesOptions } from '../src/decoding/file-frames.ts';
import { probeFile } from '../src/decoding/probe-file.ts';
import { UPRIGHT } from '../src/domain/mp4/turn.ts';
import { decodeLimits } from '../src/domain/file-budget.ts';
import { SourceError } from '@vision/streams/source-error';
import { presentationTimes, videoDirectory } from './support/videos.ts';
import { sandbox } from './support/sandbox.ts';

const street = new URL('../../../examples/street.mp4', import.meta.url).pathname;
const clip = (rate: number, seconds: number) => ['-f', 'lavfi', '-i', `testsrc2=s=320x240:r=${rate}:d=${seconds}`];
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

async function optionsFor(path: string, more: Partial<FileFramesOptions> = {}): Promise<FileFramesOptions> {
  const probe = await probeFile(path, { timeoutMs: 200_000, sandbox });
  if (!probe.isReadable) throw new SourceError(probe.reason);
  const { width, height, turn, hasEdits, playedMs } = probe;
  return {
    sampling: { fps: 5, scaled: { width, height }, turn, hasEdits },
    sandbox,
    image: { width, height },
    limits: decodeLimits(playedMs),
    noFrameMs: 200_000,
    killGraceMs: 3000,
    signal: new AbortController().signal,
    ...more,
  };
}

async function readAll(path: string, more: Partial<FileFramesOptions> = {}): Promise<FileFrame[]> {
  const frames: FileFrame[] = [];
  for await (const frame of readFileFrames(path, await optionsFor(path, more))) frames.push(frame);
  return frames;
}

const digest = (frame: FileFrame | undefined) =>
  createHash('sha1')
    .update(frame?.pixels.data ?? '')
    .digest('hex');

/** The first presentation time of every fifth of a second, computed without ffmpeg's filters. */
function sampledTimes(times: number[]): number[] {
  const intervals = times.map((time) => Math.floor((time + 0.5) / 200));
  return times.filter((_, index) => index === 0 || intervals[index] !== intervals[index - 1]);
}

test('a file of 10 frames a second gives every second frame with its presentation time', async () => {
  const frames = await readAll(street);
  expect(frames.map((frame) => frame.timeMs)).toEqual(Array.from({ length: 60 }, (_, i) => i * 200));
  expect(frames.map((frame) => frame.seq)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  expect(frames[0]?.image).toEqual({ width: 768, height: 576 });
  expect(frames[0]?.pixels.data).toHaveLength(768 * 576 * 3);
});

test('frames and times never part: the grey level painted into each frame is the one its time calls for', async () => {
  const path = await videos.make(
    'levels.mp4',
    '-f',
    'lavfi',
    '-i',
    "color=black:s=64x64:r=25:d=8,geq=lum='mod(N,200)+16':cb=128:cr=128",
    ...h264,
    '-qp',
    '0',
    '-color_range',
    'tv',
  );
  for (const frame of await readAll(path)) {
    const frameNumber = Math.round(frame.timeMs / 40);
    const level = ((frameNumber % 200) * 255) / 219;
    expect(Math.abs((frame.pixels.data[32 * 64 * 3 + 96] ?? 0) - Math.min(255, level))).toBeLessThan(4);
  }
});

test('a file with a variable frame rate keeps its own times', async () => {
  const times = 'if(lt(N,20),N*0.033,if(lt(N,30),0.66+(N-20)*0.45,5.16+(N-30)*0.071))';
  const path = await videos.make(
    'vfr.mp4',
    ...clip(25, 4),
    '-vf',
    `settb=1/90000,setpts='${times}/TB'`,
    '-vsync',
    'vfr',
    ...h264,
  );
  const own = await presentationTimes(path);
  expect(new Set(own.slice(1).map((time, index) => time - (own[index] ?? 0))).size).toBeGreaterThan(2);
  expect((await readAll(path)).map((frame) => frame.timeMs)).toEqual(sampledTimes(own));
});

test('a file whose first frame comes at 10 s begins with 10000', async () => {
  const path = await videos.make('late.mp4', ...clip(25, 2), '-output_ts_offset', '10', ...h264);
  const frames = await readAll(path);
  expect((await presentationTimes(path))[0]).toBe(10_000);
  expect(frames.map((frame) => frame.timeMs)).toEqual([
    10_000, 10_200, 10_400, 10_600, 10_800, 11_000, 11_200, 11_400, 11_600, 11_800,
  ]);
});

test.each([23.976, 29.97, 50, 3])('%d frames a second are sampled on the same grid', async (rate) => {
  const path = await videos.make(`rate-${rate}.mov`, ...clip(rate, 4), ...h264);
  expect((await readAll(path)).map((frame) => frame.timeMs)).toEqual(sampledTimes(await presentationTimes(path)));
});

test('a large frame is scaled down and keeps its size in image', async () => {
  const path = await videos.make('large.mp4', '-f', 'lavfi', '-i', 'testsrc2=s=1920x1080:r=5:d=1', ...h264);
  const [frame] = await readAll(path, {
    sampling: { fps: 5, scaled: { width: 640, height: 360 }, turn: UPRIGHT, hasEdits: true },
  });
  expect(frame?.image).toEqual({ width: 1920, height: 1080 });
  expect(frame?.pixels).toMatchObject({ width: 640, height: 360 });
  expect(frame?.pixels.data).toHaveLength(640 * 360 * 3);
});

test.each([0, 7, 31, 58])('reading on after sample %d gives the same frames as reading all', async (seq) => {
  const all = await readAll(street);
  const rest = await readAll(street, { after: { seq, timeMs: all[seq]?.timeMs ?? 0 } });
  expect(rest.map(({ seq: number, timeMs }) => ({ number, timeMs }))).toEqual(
    all.slice(seq + 1).map(({ seq: number, timeMs }) => ({ number, timeMs })),
  );
  expect(digest(rest[0])).toBe(digest(all[seq + 1]));
});

test('reading on after the last sample ends at once', async () => {
  expect(await readAll(street, { after: { seq: 59, timeMs: 11_800 } })).toEqual([]);
});

test('a file that changes the size of its frames goes on with the same numbers and times', async () => {
  const parts = ['320x240', '640x480'].map((size, index) =>
    videos.make(`part${index}.ts`, '-f', 'lavfi', '-i', `testsrc2=s=${size}:r=25:d=2.1`, ...h264, '-g', '25'),
  );
  const whole = join(videos.directory, 'whole.ts');
  await writeFile(whole, Buffer.concat(await Promise.all((await Promise.all(parts)).map((path) => readFile(path)))));
  const path = await videos.make('whole.mp4', '-i', whole, '-c', 'copy');
  const frames = await readAll(path);
  expect(frames.map((frame) => frame.timeMs)).toEqual(sampledTimes(await presentationTimes(path)));
  expect(frames.every(({ pixels }) => pixels.data.length === 320 * 240 * 3)).toBe(true);
});

test('a slow consumer slows ffmpeg and is never taken for a silent file', async () => {
  const options = await optionsFor(street);
  useFakeTimeouts();
  try {
    let count = 0;
    for await (const frame of readFileFrames(street, options)) {
      if (frame.seq === 20) {
        // The next frame is there, and no limit runs while the consumer holds this one.
        await until(() => jest.getTimerCount() === 0);
        jest.advanceTimersByTime(10 * options.noFrameMs);
      }
      count += 1;
    }
    expect(count).toBe(60);
  } finally {
    jest.useRealTimers();
  }
});

/** Replaces `setTimeout` and nothing else. */
function useFakeTimeouts(): void {
  const others = [
    'Date',
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'setInterval',
  ] as const;
  jest.useFakeTimers({ doNotFake: [...others, 'clearImmediate', 'clearInterval'] });
}

test('a reader that leaves early takes ffmpeg with it', async () => {
  for await (const frame of readFileFrames(street, await optionsFor(street))) if (frame.seq === 3) break;
  const ended = new AbortController();
  const frames: number[] = [];
  for await (const frame of readFileFrames(street, await optionsFor(street, { signal: ended.signal }))) {
    frames.push(frame.seq);
    if (frame.seq === 2) ended.abort();
  }
  expect(frames).toEqual([0, 1, 2]);
});

test('a file with sound only has no video track, nor has one with a cover image', async () => {
  const tone = ['-f', 'lavfi', '-i', 'sine=d=1'];
  const audio = await videos.make('audio.mp4', ...tone, '-c:a', 'aac');
  const cover = await videos.make('cover.png', '-f', 'lavfi', '-i', 'testsrc2=s=64x64', '-frames:v', '1');
  const both = ['-i', audio, '-i', cover, '-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  const covered = await videos.make('covered.mp4', ...both);
  const limits = { timeoutMs: 200_000, sandbox };
  expect(await probeFile(audio, limits)).toEqual({ isReadable: false, reason: 'no_video_track' });
  expect(await probeFile(covered, limits)).toEqual({ isReadable: false, reason: 'no_video_track' });
});

test('text, a playlist, a truncated file and an empty one cannot be read', async () => {
  const secret = join(videos.directory, 'secret.ts');
  await writeFile(secret, 'secret');
  const truncated = join(videos.directory, 'truncated.mp4');
  await copyFile(await videos.make('moov-at-end.mp4', ...clip(25, 2), ...h264), truncated);
  await truncate(truncated, Math.floor((await readFile(truncated)).length / 2));
  const bad: Record<string, string> = {
    'text.mp4': 'this is no video',
    'playlist.mp4': `#EXTM3U\n#EXTINF:1,\nfile://${secret}\n`,
    'empty.mp4': '',
  };
  for (const [name, content] of Object.entries(bad)) await writeFile(join(videos.directory, name), content);
  for (const name of [...Object.keys(bad), 'truncated.mp4']) {
    const probe = await probeFile(join(videos.directory, name), { timeoutMs: 200_000, sandbox });
    expect({ name, probe }).toMatchObject({ name, probe: { isReadable: false, reason: 'unreadable' } });
  }
});

test('the look at a file ends with its time', async () => {
  expect(await probeFile(street, { timeoutMs: 1, sandbox })).toEqual({ isReadable: false, reason: 'timeout' });
  expect(await probeFile(street, { timeoutMs: 200_000, sandbox })).toEqual({
    isReadable: true,
    width: 768,
    height: 576,
    playedMs: 12_000,
    codec: 'h264',
    turn: UPRIGHT,
    hasEdits: true,
  });
});
