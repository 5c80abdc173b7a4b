import type { Knex } from 'knex';
import type { FrameData } from '@vision/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import { createSignals } from '../services/results/src/signals.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/keep-partitions.ts';
import { storeFrames } from '../services/results/src/use-cases/store-frames.ts';
import { atLeast, median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { testSettings } from '../services/results/test/support.ts';
import type { liveFrames } from './street-frames.ts';
import { syntheticTaskId } from './synthetic-frames.ts';

export type FramesOf = Awaited<ReturnType<typeof liveFrames>>;

/** Frames that come together of one task. */
export const BATCH = 60;
const BATCHES = 3;
const TASKS = 100;
const ROUNDS = 5;

export type Keep = (frames: FrameData[], writeSegments: boolean) => Promise<void>;

/** Stores frames as the service does, each call in one transaction. */
export function keeper(db: Knex): Keep {
  const deps = {
    partitions: createPartitionKeeper(db, 90),
    signals: createSignals(createLogger('bench', 'silent')),
    wakeRelay: () => undefined,
  };
  return async (frames, writeSegments) => {
    await storeFrames(
      { ...deps, settings: { ...testSettings, writeSegments: () => writeSegments } },
      frames.map((data) => ({ kind: 'frame', data })),
      (work) => inTransaction(db, work),
    );
  };
}

/**
 * Frames of 20 objects from 100 tasks, each task in batches of 60: as the service stores them, so many batches in a
 * transaction as FRAMES_PER_TRANSACTION (500) has room for, and each batch in a transaction of its own.
 */
export async function ingest(framesOf: FramesOf, keep: Keep): Promise<Figure[]> {
  const together = await alternate(framesOf, keep, Math.floor(500 / BATCH));
  const alone = await alternate(framesOf, keep, 1);
  const rate = (ms: number) => (TASKS * BATCHES * BATCH * 1000) / ms;
  const ratio = (rounds: Round[]) => median(rounds.map((one) => one.rows / one.segments));
  return [
    { name: 'storeFrames, rows', value: median(together.map(({ rows }) => rate(rows))), unit: 'frames/s' },
    { name: 'storeFrames, segments', value: median(together.map(({ segments }) => rate(segments))), unit: 'frames/s' },
    // Measured: 2.85 to 3.43.
    { name: 'segments over rows', value: ratio(together), unit: 'ratio', target: atLeast(3), floor: atLeast(2.5) },
    {
      name: 'the same in processor time of this process',
      value: median(together.map((one) => one.rowsCpu / one.segmentsCpu)),
      unit: 'ratio',
    },
    { name: 'segments over rows, each batch a transaction', value: ratio(alone), unit: 'ratio' },
  ];
}

interface Round {
  rows: number;
  rowsCpu: number;
  segments: number;
  segmentsCpu: number;
}

async function alternate(framesOf: FramesOf, keep: Keep, batchesAtOnce: number): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [rows, rowsCpu] = await storeAll(framesOf, { keep, batchesAtOnce, writeSegments: false });
    const [segments, segmentsCpu] = await storeAll(framesOf, { keep, batchesAtOnce, writeSegments: true });
    // The first round warms everything up.
    if (round > 0) rounds.push({ rows, rowsCpu, segments, segmentsCpu });
  }
  return rounds;
}

/** Milliseconds that it took, and of processor time of this process. */
async function storeAll(
  framesOf: FramesOf,
  { keep, batchesAtOnce, writeSegments }: { keep: Keep; batchesAtOnce: number; writeSegments: boolean },
): Promise<[ms: number, cpuMs: number]> {
  // As they come out of a record of Kafka.
  const received = () =>
    JSON.parse(JSON.stringify(framesOf(syntheticTaskId(), 20).slice(0, BATCHES * BATCH))) as FrameData[];
  const tasks = Array.from({ length: TASKS }, received);
  const transactions: FrameData[][] = [];
  for (let from = 0; from < BATCHES * BATCH; from += BATCH)
    for (let task = 0; task < TASKS; task += batchesAtOnce)
      transactions.push(tasks.slice(task, task + batchesAtOnce).flatMap((frames) => frames.slice(from, from + BATCH)));
  const cpu = process.cpuUsage();
  const ms = await timed(async () => {
    for (const frames of transactions) await keep(frames, writeSegments);
  });
  const { user, system } = process.cpuUsage(cpu);
  return [ms, (user + system) / 1000];
}
