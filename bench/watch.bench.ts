import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Knex } from 'knex';
import { fileArguments } from '../services/inference/src/decoding/ffmpeg-arguments.ts';
import { cropOf, qualityOf } from '../services/inference/src/domain/snapshot-quality.ts';
import { UPRIGHT } from '../services/inference/src/domain/mp4/turn.ts';
import { migrations } from '../services/results/src/db/migrations/list.ts';
import { foldTask } from '../services/results/src/use-cases/fold/fold-task.ts';
import { atMost, median } from './figures.ts';
import type { Figure } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';
import { syntheticFrame, syntheticTaskId } from './synthetic-frames.ts';
import { byteFigures } from './watch/byte-figures.ts';
import { depsOf, keepFrames } from './watch/parts.ts';
import { rowFigures } from './watch/row-figures.ts';
import { searchFigures } from './watch/search-figures.ts';
import { streamFigures } from './watch/stream-figures.ts';
import { timelineFigures } from './watch/timeline-figures.ts';
import { trackFigures } from './watch/track-figures.ts';

export const name = 'watch';

const FRAMES = 500;
const OBJECTS = 20;
/** The first rounds run code that is not compiled yet, which takes several times as long. */
const [WARM_UP, ROUNDS] = [30, 60];
/** Frames of five seconds of a stream, which come in batches of five. */
const [YOUNG, BATCH] = [25, 5];
const VIDEO_S = 20;
const DECODES = 3;

/**
 * What it costs to follow videos: the fold beside the storing of frames, the rows and bytes that it writes, pages of
 * tracks, searches by time, timelines, streams of results, and images beside decoding.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const database = await scratchDatabase(migrations, 4);
  try {
    return {
      figures: [
        ...(await foldFigures(database.db)),
        ...(await rowFigures()),
        ...(await trackFigures(database.db)),
        ...(await searchFigures(database.db)),
        ...(await byteFigures(database.db)),
        ...(await timelineFigures(database.db)),
        ...(await streamFigures(database.db)),
        ...(await imageFigures()),
      ],
    };
  } finally {
    await database.drop();
  }
}

/** Processor time of this process, microseconds, that work takes. */
async function spent(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function foldFigures(db: Knex): Promise<Figure[]> {
  const deps = depsOf(db);
  const [stores, folds]: [number[], number[]] = [[], []];
  const stream = syntheticTaskId();
  const young: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const taskId = syntheticTaskId();
    const frames = framesOf(taskId, 0, FRAMES);
    stores.push(await spent(() => keepFrames(deps, frames)));
    folds.push(await spent(() => foldTask(deps, taskId)));
    for (let seq = round * YOUNG; seq < (round + 1) * YOUNG; seq += BATCH)
      await keepFrames(deps, framesOf(stream, seq, BATCH));
    young.push(await spent(() => foldTask(deps, stream)));
  }
  const [storing, folding] = [median(stores.slice(WARM_UP)) / FRAMES, median(folds.slice(WARM_UP)) / FRAMES];
  return [
    { name: `storing a frame of ${OBJECTS} objects, processor time`, value: storing, unit: 'µs' },
    { name: 'folding it into tracks and minutes', value: folding, unit: 'µs', target: atMost(13) },
    { name: 'folding over storing', value: folding / storing, unit: 'ratio', floor: atMost(1.2) },
    { name: `a fold of ${YOUNG} hot frames of a stream`, value: median(young.slice(WARM_UP)) / 1000, unit: 'ms' },
  ];
}

const framesOf = (taskId: string, from: number, count: number) =>
  Array.from({ length: count }, (_, at) => syntheticFrame(taskId, from + at, OBJECTS));

const execute = promisify(execFile);

/** What the second output adds to decoding and sampling, and what it takes to inspect an image of an object. */
async function imageFigures(): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'vision-bench-'));
  const video = join(directory, 'video.mp4');
  try {
    const source = ['-f', 'lavfi', '-i', `testsrc2=s=1920x1080:r=25:d=${VIDEO_S}`];
    const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'];
    await execute('ffmpeg', ['-v', 'error', '-y', ...source, ...encoder, video]);
    const [off, on]: [number[], number[]] = [[], []];
    for (let round = 0; round < DECODES; round += 1) {
      off.push(await decode(video, false));
      on.push(await decode(video, true));
    }
    return [
      { name: 'decoding and sampling a second of 1080p25, processor time', value: median(off) / VIDEO_S, unit: 'ms' },
      {
        name: 'with a second output over without',
        value: median(on) / median(off),
        unit: 'ratio',
        target: atMost(1.03),
        floor: atMost(1.1),
      },
      { name: 'judging the image of an object', value: await inspecting(), unit: 'µs' },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Processor time of ffmpeg as it says itself, milliseconds. */
async function decode(video: string, hasSnapshots: boolean): Promise<number> {
  const args = fileArguments(video, {
    fps: 5,
    scaled: { width: 736, height: 416 },
    turn: UPRIGHT,
    hasEdits: true,
    snapshots: hasSnapshots ? { maxSide: 1280 } : undefined,
  });
  // Nobody reads what it decodes here, so it goes nowhere.
  const quiet = args.map((arg) => arg.replace(/file=pipe\\+:\d/g, 'file=/dev/null').replace(/^pipe:\d$/, '/dev/null'));
  const { stderr } = await execute('ffmpeg', ['-y', '-benchmark', ...quiet], { maxBuffer: 1 << 26 });
  const [, user = '', system = ''] = /utime=([\d.]+)s stime=([\d.]+)s/.exec(stderr) ?? [];
  return 1000 * (Number(user) + Number(system));
}

/** Processor time, microseconds. */
async function inspecting(): Promise<number> {
  const image = { width: 1280, height: 720, data: new Uint8Array(1280 * 720 * 3).map((_, at) => (at * 7919) % 251) };
  const bbox = { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: 0.2, height: 0.6 };
  const box = cropOf(bbox, image);
  if (!box) throw new Error('nothing is shown');
  const rounds = 500;
  for (let round = 0; round < 50; round += 1) qualityOf(image, box, { score: 0.9, bbox });
  const all = await spent(() => {
    for (let round = 0; round < rounds; round += 1) qualityOf(image, box, { score: 0.9, bbox });
    return Promise.resolve();
  });
  return all / rounds;
}
