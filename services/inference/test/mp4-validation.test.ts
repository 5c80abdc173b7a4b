import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileFrames } from '../src/decoding/file-frames.ts';
import { probeFile } from '../src/decoding/probe-file.ts';
import { decodeLimits } from '../src/domain/file-budget.ts';
import { withCameraBoxes, writtenByFfmpeg } from './support/honest-videos.ts';
import { box, boxesOf, changeAt, replaceBox, withMatrix, words } from '@vision/shared/testing/mp4-boxes';
import { sandbox } from './support/sandbox.ts';
import { videoDirectory } from './support/videos.ts';

const run = promisify(execFile);
const limits = { timeoutMs: 200_000, sandbox };
let videos: Awaited<ReturnType<typeof videoDirectory>>;
let plain: Buffer;

beforeAll(async () => {
  videos = await videoDirectory();
  const clip = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=10:d=1', '-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
  // The index stands behind the images, so their offsets stay what they are.
  plain = await readFile(await videos.make('plain.mp4', ...clip, '-bf', '0'));
});
afterAll(() => videos.remove());

async function probe(bytes: Buffer, name = 'changed.mp4') {
  const path = join(videos.directory, name);
  await writeFile(path, bytes);
  return probeFile(path, limits);
}

test('files as ffmpeg writes them pass, with every muxer and each of its flags', async () => {
  const refused: unknown[] = [];
  for (const path of await writtenByFfmpeg(videos)) {
    const seen = await probeFile(path, limits);
    if (!seen.isReadable) refused.push({ file: basename(path), ...seen });
  }
  expect(refused).toEqual([]);
});

test('files with the boxes that cameras add pass', async () => {
  for (const [camera, bytes] of Object.entries(withCameraBoxes(plain))) {
    expect({ camera, seen: await probe(bytes) }).toMatchObject({ camera, seen: { isReadable: true, width: 64 } });
  }
});

const manyEdits = (index: Buffer) =>
  changeAt(index, ['trak', 'edts'], () =>
    box('elst', words(0, 200_000), Buffer.alloc(200_000 * 12, words(1, 0, 0x10000))),
  );
const obliqueTrack = (index: Buffer) =>
  changeAt(index, ['trak', 'tkhd'], (header) => withMatrix(header, [0.5, 0.866, -0.866, 0.5]));
const tracks = (index: Buffer) => boxesOf(index).filter(({ type }) => type === 'trak');
const withoutTracks = (index: Buffer) => replaceBox(index, 'trak', () => Buffer.of());
const zipped = (index: Buffer) => {
  const bytes = deflateSync(index);
  return box('cmov', box('dcom', Buffer.from('zlib')), box('cmvd', words(index.length), bytes));
};

/** Other spellings of an index that ffmpeg reads like `moov`. */
const SPELLINGS: Record<string, { refused: string; hide: (index: Buffer) => Buffer }> = {
  hoov: { refused: "'hoov' in 'file'", hide: (index) => box('hoov', index) },
  free: { refused: "an index in 'free'", hide: (index) => box('free', index) },
  cmov: { refused: "'cmov' in 'moov'", hide: (index) => box('moov', zipped(index)) },
  'tracks before the index': {
    refused: "'trak' in 'file'",
    hide: (index) =>
      Buffer.concat([...tracks(index).map(({ data }) => box('trak', data)), box('moov', withoutTracks(index))]),
  },
  'tracks behind the index': {
    refused: "'trak' in 'file'",
    hide: (index) =>
      Buffer.concat([box('moov', withoutTracks(index)), ...tracks(index).map(({ data }) => box('trak', data))]),
  },
};

test.each(Object.entries(SPELLINGS))('an index spelt %s is refused, and the refusal names the box', async (_, row) => {
  for (const hostile of [manyEdits, obliqueTrack]) {
    const seen = await probe(replaceBox(plain, 'moov', (index) => row.hide(hostile(index))));
    expect(seen).toEqual({ isReadable: false, reason: 'unreadable', detail: row.refused });
  }
});

/** Number of frames of the first video track that ffmpeg decodes by itself, without edits. */
async function framesDecoded(bytes: Buffer): Promise<number> {
  const path = join(videos.directory, 'played.mp4');
  await writeFile(path, bytes);
  const args = ['-v', 'error', '-ignore_editlist', '1', '-count_frames', '-show_entries', 'stream=nb_read_frames'];
  const { stdout } = await run('ffprobe', [...args, '-select_streams', 'v:0', '-of', 'csv=p=0', path]);
  return Number.parseInt(stdout);
}

// The control: without validation, refusals of these spellings would not be for want of a video.
test.each(Object.entries(SPELLINGS))('ffmpeg plays the video of an index spelt %s', async (_, { hide }) => {
  for (const hostile of [manyEdits, obliqueTrack]) {
    expect(await framesDecoded(replaceBox(plain, 'moov', (index) => hide(hostile(index))))).toBe(10);
  }
});

test('edits that the count of the list does not tell are refused', async () => {
  const seen = await probe(
    changeAt(plain, ['moov', 'trak', 'edts', 'elst'], () =>
      Buffer.concat([words(0, 1), Buffer.alloc(200_000 * 12, words(1, 0, 0x10000))]),
    ),
  );
  expect(seen).toMatchObject({ detail: "'elst' holds too many edits" });
});

test('a movie that turns all its tracks by an odd angle is refused', async () => {
  const turned = changeAt(plain, ['moov', 'mvhd'], (header) => withMatrix(header, [0.5, 0.866, -0.866, 0.5], 36));
  expect(await probe(turned)).toMatchObject({ detail: "'mvhd' holds an odd rotation" });
});

/** Numbers from 0 to 1 that are the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const INDEX_TYPES = 'moov trak edts elst mdia minf stbl stsd stsz udta meta hdlr free hoov tref moof traf tkhd'.split(
  ' ',
);

/** Moves, repeats and renames boxes of the index, at any depth. */
function shuffled(data: Buffer, random: () => number, depth = 0): Buffer {
  const pick = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)];
  const inner = boxesOf(data).flatMap(({ type, data: content }) => {
    const isContainer = ['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl', 'udta', 'dinf'].includes(type);
    const changed = isContainer && depth < 6 ? shuffled(content, random, depth + 1) : content;
    const name = random() < 0.02 ? (pick(INDEX_TYPES) ?? type) : type;
    const one = box(name, changed);
    return random() < 0.03 ? [one, one] : [one];
  });
  if (random() < 0.1) inner.push(pick(inner) ?? Buffer.of());
  if (random() < 0.1) inner.reverse();
  return Buffer.concat(inner);
}

test('in what passed, ffprobe sees the tracks and turns that validation saw', async () => {
  let passed = 0;
  for (let seed = 1; seed <= 120; seed += 1) {
    const random = randomFrom(seed);
    const seen = await probe(replaceBox(plain, 'moov', (index) => box('moov', shuffled(index, random))));
    if (seen.isReadable) passed += 1;
    // Where the two disagree, the probe refuses with these words; validation alone should have.
    else
      expect({ seed, detail: seen.detail }).not.toMatchObject({ detail: expect.stringContaining('only the decoder') });
  }
  expect(passed).toBeGreaterThan(10);
});

const TURNS = [
  [1, 0, 0, 1],
  [0, 1, -1, 0],
  [-1, 0, 0, -1],
  [0, -1, 1, 0],
  [-1, 0, 0, 1],
  [1, 0, 0, -1],
  [0, 1, 1, 0],
  [0, -1, -1, 0],
];

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The frames that ffmpeg makes when it turns by itself, in the size it shows them in. */
async function turnedByFfmpeg(path: string, { width, height }: { width: number; height: number }): Promise<string[]> {
  const filters = `select='not(mod(n,2))',scale=w=${width}:h=${height}:flags=bilinear,format=rgb24`;
  const output = ['-vf', filters, '-filter_threads', '1', '-fps_mode', 'passthrough', '-f', 'rawvideo', '-'];
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-nostdin', '-i', path, ...output], {
    encoding: 'buffer',
    maxBuffer: 1 << 24,
  });
  const bytes = width * height * 3;
  return Array.from({ length: stdout.length / bytes }, (_, index) =>
    digest(stdout.subarray(index * bytes, (index + 1) * bytes)),
  );
}

test.each(TURNS)('a matrix %d %d %d %d gives the frames that ffmpeg makes by turning itself', async (...matrix) => {
  const path = join(videos.directory, `turned${matrix.join('')}.mp4`);
  await writeFile(
    path,
    changeAt(plain, ['moov', 'trak', 'tkhd'], (header) => withMatrix(header, matrix)),
  );
  const seen = await probeFile(path, limits);
  if (!seen.isReadable) throw new Error(seen.detail);
  const { width, height, turn, hasEdits } = seen;
  expect({ width, height }).toEqual(matrix[0] === 0 ? { width: 48, height: 64 } : { width: 64, height: 48 });
  const frames: string[] = [];
  for await (const frame of readFileFrames(path, {
    sampling: { fps: 5, scaled: { width, height }, turn, hasEdits },
    sandbox,
    image: { width, height },
    limits: decodeLimits(1000),
    noFrameMs: 200_000,
    killGraceMs: 3000,
    signal: new AbortController().signal,
  })) {
    expect(frame.image).toEqual({ width, height });
    frames.push(digest(frame.pixels.data));
  }
  expect(frames).toHaveLength(5);
  expect(frames).toEqual(await turnedByFfmpeg(path, { width, height }));
});

test('edits are followed where validation saw them, and never otherwise', async () => {
  const cut = changeAt(plain, ['moov', 'trak', 'edts', 'elst'], () => words(0, 1, 500, 5 * 1024, 0x10000));
  const path = join(videos.directory, 'cut.mp4');
  await writeFile(path, cut);
  const timesOf = async (hasEdits: boolean) => {
    const times: number[] = [];
    const sampling = { fps: 5, scaled: { width: 64, height: 48 }, turn: [1, 0, 0, 1] as const, hasEdits };
    for await (const frame of readFileFrames(path, {
      sampling,
      sandbox,
      image: { width: 64, height: 48 },
      limits: decodeLimits(1000),
      noFrameMs: 200_000,
      killGraceMs: 3000,
      signal: new AbortController().signal,
    }))
      times.push(frame.timeMs);
    return times;
  };
  expect(await timesOf(true)).toHaveLength(3);
  expect(await timesOf(false)).toHaveLength(5);
});
