import { readdir, readFile, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { box, changeAt, words } from '@vision/shared/testing/mp4-boxes';
import { until } from '@vision/shared/testing/until';
import { readFileFrames } from '../src/decoding/file-frames.ts';
import { probeFile } from '../src/decoding/probe-file.ts';
import type { DecodeLimits } from '../src/domain/file-budget.ts';
import { UPRIGHT } from '../src/domain/mp4/turn.ts';
import { street } from './support/live-watch.ts';
import { sandbox } from './support/sandbox.ts';
import { videoDirectory } from './support/videos.ts';

const clip = ['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=10:d=1'];
let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

const framesOf = (path: string, limits: DecodeLimits = { cpuSeconds: 300, wallMs: 3_600_000 }) =>
  readFileFrames(path, {
    sampling: { fps: 5, scaled: { width: 768, height: 576 }, turn: UPRIGHT, hasEdits: true },
    sandbox,
    image: { width: 768, height: 576 },
    limits,
    noFrameMs: 200_000,
    killGraceMs: 3000,
    signal: new AbortController().signal,
  });
async function readAll(path: string, limits: DecodeLimits): Promise<void> {
  for await (const frame of framesOf(path, limits)) expect(frame.image.width).toBe(768);
}

test('a file whose decoding takes more time than its length allows ends with that reason', async () => {
  const frames = readAll(street, { cpuSeconds: 300, wallMs: 1 });
  await expect(frames).rejects.toMatchObject({ reason: 'decode_time_exceeded' });
});

test('a file whose decoding takes more processor time than its length allows ends with that reason', async () => {
  const path = await videos.make('long.mp4', '-stream_loop', '50', '-i', street, '-c', 'copy');
  const frames = readAll(path, { cpuSeconds: 1, wallMs: 3_600_000 });
  await expect(frames).rejects.toMatchObject({ reason: 'decode_time_exceeded' });
});

/** Empty for a process that has ended meanwhile. */
const commandOf = async (pid: string) => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');

test('files are decoded behind everything else', async () => {
  // Of its own name: other tests on this machine decode the same video, as cameras do.
  const path = await videos.make('behind.mp4', '-i', street, '-c', 'copy');
  const frames = framesOf(path);
  try {
    await frames.next();
    const decoder = await until(async () => {
      const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      const commands = await Promise.all(
        processes.map(async (pid) => ({ pid: Number(pid), command: await commandOf(pid) })),
      );
      return commands.find(({ command }) => command[0] === 'ffmpeg' && command.some((word) => word.includes(path)));
    });
    expect(getPriority(decoder.pid)).toBe(Math.min(19, getPriority() + 10));
  } finally {
    await frames.return();
  }
});

test('an index that names the same bytes again and again is refused, and so is more than a day', async () => {
  const plain = await readFile(await videos.make('plain.mp4', ...clip, '-c:v', 'libx264', '-bf', '0'));
  const table = ['moov', 'trak', 'mdia', 'minf', 'stbl'];
  const repeated = (count: number, ticks: number) => {
    const withTimes = changeAt(plain, [...table, 'stts'], () => words(0, 1, count, ticks));
    const withSizes = changeAt(withTimes, [...table, 'stsz'], () => words(0, 500, count));
    return changeAt(withSizes, [...table, 'stsc'], () => words(0, 1, 1, count, 1));
  };
  const reasonOf = async (bytes: Buffer) => {
    const path = join(videos.directory, 'repeated.mp4');
    await writeFile(
      path,
      changeAt(bytes, ['moov', 'trak', 'edts'], () => box('free')),
    );
    const seen = await probeFile(path, { timeoutMs: 200_000, sandbox });
    return seen.isReadable ? 'readable' : seen.reason;
  };
  expect(await reasonOf(repeated(10, 1024))).toBe('readable');
  expect(await reasonOf(repeated(5_000_000, 1))).toBe('video_too_dense');
  expect(await reasonOf(repeated(10, 10_240 * 8_641))).toBe('video_too_long');
});
