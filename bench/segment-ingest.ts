import type { Knex } from 'knex';
import type { FrameData } from '@vision/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import { createSignals } from '../services/results/src/signals.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../services/results/src/use-cases/store/store-frames.ts';
import { median, timed } from './figures.ts';
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

export type Keep = (frames: FrameData[]) => Promise<void>;

/** Stores frames as the service does, each call in one transaction. */
export function keeper(db: Knex): Keep {
  const deps = {
    partitions: createPartitionKeeper(db, 90),
    signals: createSignals(createLogger('bench', 'silent')),
    wakeRelay: () => undefined,
  };
  return async (frames) => {
    await storeFrames(
      { ...deps, settings: testSettings },
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
  const together = await repeated(framesOf, keep, Math.floor(500 / BATCH));
  const alone = await repeated(framesOf, keep, 1);
  const rate = (ms: number) => (TASKS * BATCHES * BATCH * 1000) / ms;
  return [
    { name: 'storeFrames, segments', value: median(together.map(({ ms }) => rate(ms))), unit: 'frames/s' },
    {
      name: 'the same in processor time of this process',
      value: median(together.map(({ cpuMs }) => (cpuMs * 1000) / (TASKS * BATCHES * BATCH))),
      unit: 'us',
    },
    { name: 'the same, each batch a transaction', value: median(alone.map(({ ms }) => rate(ms))), unit: 'frames/s' },
  ];
}

interface Round {
  ms: number;
  cpuMs: number;
}

async function repeated(framesOf: FramesOf, keep: Keep, batchesAtOnce: number): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [ms, cpuMs] = await storeAll(framesOf, { keep, batchesAtOnce });
    // The first round warms everything up.
    if (round > 0) rounds.push({ ms, cpuMs });
  }
  return rounds;
}

/** Milliseconds that it took, and of processor time of this process. */
async function storeAll(
  framesOf: FramesOf,
  { keep, batchesAtOnce }: { keep: Keep; batchesAtOnce: number },
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
    for (const frames of transactions) await keep(frames);
  });
  const { user, system } = process.cpuUsage(cpu);
  return [ms, (user + system) / 1000];
}
