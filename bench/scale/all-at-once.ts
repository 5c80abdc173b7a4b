import { setTimeout as delay } from 'node:timers/promises';
import type { FrameData } from '@vision/contracts/frame-events';
import { until } from '@vision/shared/testing/until';
import { atMost, quantile } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { cpuSecondsOf, useOf } from '../process-tree.ts';
import type { Brokers } from './brokers.ts';
import { startCameras } from './cameras.ts';
import { useIn } from './processor-time.ts';
import { createResultsWorld } from './results-world.ts';
import type { ResultsWorld } from './results-world.ts';
import { sampleLags } from './sample-lags.ts';

/** Half of what fills two cores: frames are to be stored when they come. */
const STREAMS = 500;
const LINGER_MS = 250;
/** A segment is full after so long. In production frames stay in the database for six times as long. */
const YOUNG_MS = 103_000;
const WARM_UP_MS = YOUNG_MS + 12_000;
const IDLE_MS = 5_000;
const SETTLE_MS = 3_000;

/** Seconds of frames that the measurement takes: until the first ones are moved, and two moves of each stream. */
export const ALL_AT_ONCE_S = (WARM_UP_MS + 2 * YOUNG_MS) / 1_000;

/**
 * Frames come evenly while those of before are folded, moved to the object store, read back and asked for by the audit,
 * and retention runs: the processor time of every process for each frame that comes, and how much waits in the end.
 * @param frames of one stream, at 5 a second
 */
export async function measureAllAtOnce(brokers: Brokers, frames: readonly FrameData[]): Promise<Figure[]> {
  const world = await createResultsWorld();
  try {
    const { child } = await world.start({
      SEGMENT_YOUNG_MS: String(YOUNG_MS),
      RETENTION_INTERVAL_MS: '30000',
      AUDIT_INTERVAL_MS: '10000',
      AUDIT_AGE_MS: '5000',
    });
    const use = () => ({
      results: cpuSecondsOf(child.pid ?? 0),
      PostgreSQL: useOf('postgres').cpuS,
      Kafka: brokers.programs.reduce((sum, one) => sum + useOf(one, brokers.localDir).cpuS, 0),
      'the object store': useOf('s3').cpuS,
      'the load generator': cpuSecondsOf(process.pid),
    });
    await delay(SETTLE_MS);
    const idle = await useIn(use, () => delay(IDLE_MS));
    const cameras = await startCameras({ kafka: world.kafka.client, frames, streams: STREAMS, lingerMs: LINGER_MS });
    await delay(WARM_UP_MS);
    const [began, movedBefore] = [cameras.captured(), await movedFrames(world)];
    let lags: number[] = [];
    const used = await useIn(use, async () => {
      lags = await sampleLags(world, cameras, frames.length * STREAMS);
    });
    const [counted, moved] = [cameras.captured() - began, (await movedFrames(world)) - movedBefore];
    const waitS = await longestWaitS(world);
    await cameras.stop();
    await until(async () => (await world.stored()) === frames.length * STREAMS, { timeoutMs: 120_000 });
    const of = `${STREAMS} streams, all at once`;
    return [
      { name: `${of}, frames a second`, value: counted / used.seconds, unit: '1/s' },
      { name: `${of}, frames moved over frames that came`, value: moved / counted, unit: 'ratio' },
      { name: `${of}, longest wait of frames to be moved, at the end`, value: waitS, unit: 's', target: atMost(60) },
      { name: `${of}, captured to readable, p50`, value: quantile(lags, 0.5), unit: 'ms', target: atMost(400) },
      { name: `${of}, captured to readable, p99`, value: quantile(lags, 0.99), unit: 'ms', target: atMost(1_000) },
      ...(Object.keys(idle) as (keyof typeof idle)[])
        .filter((part) => part !== 'seconds')
        .map((part) => ({
          name: `${of}, processor time of ${part} per frame`,
          value: ((used[part] - idle[part]) * used.seconds * 1e6) / counted,
          unit: 'us',
        })),
    ];
  } finally {
    await world.close();
  }
}

async function movedFrames({ database: { db } }: ResultsWorld): Promise<number> {
  const row = await db('segments')
    .whereNotNull('object_key')
    .sum<{ frames: string | null }>({ frames: 'frames' })
    .first();
  return Number(row?.frames ?? 0);
}

/** How long the task has waited for its move that has waited longest. */
async function longestWaitS({ database: { db } }: ResultsWorld): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ waitS: number }] }>(
    `select greatest(0, extract(epoch from now() - min(compact_at)))::float8 as "waitS" from ingests`,
  );
  return rows[0].waitS;
}
