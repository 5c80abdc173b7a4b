import { setTimeout as delay } from 'node:timers/promises';
import type { FrameData } from '@vision/contracts/frame-events';
import { topics } from '@vision/contracts/topics';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { atMost, quantile } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { kafkaBytes } from '../kafka-bytes.ts';
import { cpuSecondsOf, useOf } from '../process-tree.ts';
import type { Brokers } from './brokers.ts';
import { startCameras } from './cameras.ts';
import { useIn } from './processor-time.ts';
import type { Used } from './processor-time.ts';
import { createResultsWorld } from './results-world.ts';
import type { ResultsWorld } from './results-world.ts';
import { sampleLags } from './sample-lags.ts';

export interface EvenArrival {
  streams: number;
  /** How long workers gather segments; without it each frame is an event of its own. */
  lingerMs?: number;
  /** Bytes of a frame in Kafka that the form is to stay below. */
  mostBytes?: number;
}

/** Figures of the start, of joining partitions and of first rows, are not counted. */
const WARM_UP_MS = 10_000;
const SETTLE_MS = 3_000;
/** What an idle service takes is measured before, and taken off. */
const IDLE_MS = 5_000;
/** Folds that are under way when no more are to begin. */
const FOLDS_END_MS = 1_000;
/** SEGMENT_LINGER_MS unless it is set. */
const DEFAULT_LINGER_MS = 250;

/**
 * Frames that come evenly, as cameras send them: what storing one costs results and PostgreSQL, and apart from that
 * folding it, its bytes in Kafka, and the time from its capture until it can be read (without decoding and detection);
 * then what moving all of them to the object store costs, each object read back.
 * @param frames of one stream, at 5 a second: as long as the run takes
 */
export async function measureEvenArrival(
  brokers: Brokers,
  case_: EvenArrival,
  frames: readonly FrameData[],
): Promise<Figure[]> {
  const world = await createResultsWorld();
  try {
    const { figures, idle } = await ingest({ world, brokers }, case_, frames);
    return [...figures, ...(await compact(world, case_, idle))];
  } finally {
    await world.close();
  }
}

async function ingest(
  { world, brokers }: { world: ResultsWorld; brokers: Brokers },
  case_: EvenArrival,
  frames: readonly FrameData[],
): Promise<{ figures: Figure[]; idle: Used<Part> }> {
  const { streams, lingerMs, mostBytes } = case_;
  const service = await world.start();
  const kafkaS = () => brokers.programs.reduce((sum, one) => sum + useOf(one, brokers.localDir).cpuS, 0);
  const use = () => ({ ...useOfStores(service), kafkaS: kafkaS() });
  await delay(SETTLE_MS);
  const idle = await useIn(use, () => delay(IDLE_MS));
  const cameras = await startCameras({ kafka: world.kafka.client, frames, streams, lingerMs });
  await delay(WARM_UP_MS);
  const total = frames.length * streams;
  const half = cameras.captured() + Math.ceil((total - cameras.captured()) / 2);
  const measure = async (until: number) => {
    const beganWith = cameras.captured();
    let lags: number[] = [];
    const used = await useIn(use, async () => {
      lags = await sampleLags(world, cameras, until);
    });
    const counted = cameras.captured() - beganWith;
    const of = (name: Part) => ((used[name] - idle[name]) * used.seconds * 1e6) / counted;
    return {
      lags,
      perS: counted / used.seconds,
      service: of('serviceS'),
      database: of('databaseS'),
      kafka: of('kafkaS'),
    };
  };
  const whole = await measure(half);
  await holdFolds(world);
  const ingest = await measure(total);
  await cameras.stop();
  await until(async () => (await world.stored()) === total, { timeoutMs: 120_000, intervalMs: 200 });
  const bytes = kafkaBytes(`${world.kafka.topicPrefix}${topics.frames}`, brokers.localDir) / total;
  await service.stop();
  const of = nameOf(case_);
  const inSegments = lingerMs !== undefined;
  const figures: Figure[] = [
    { name: `${of}, frames a second`, value: whole.perS, unit: '1/s' },
    {
      name: `${of}, processor time of results to store a frame`,
      value: ingest.service,
      unit: 'us',
      ...(inSegments && { target: atMost(60) }),
    },
    { name: `${of}, processor time of results to fold a frame`, value: whole.service - ingest.service, unit: 'us' },
    { name: `${of}, processor time of PostgreSQL to store a frame`, value: ingest.database, unit: 'us' },
    { name: `${of}, processor time of PostgreSQL to fold it`, value: whole.database - ingest.database, unit: 'us' },
    { name: `${of}, processor time of ${brokersOf(brokers)} to keep a frame`, value: whole.kafka, unit: 'us' },
    {
      name: `${of}, bytes of a frame in Kafka`,
      value: bytes,
      unit: 'bytes',
      // A frame alone takes 283 bytes, and at 250 ms there are five frames in four segments.
      ...(mostBytes !== undefined && { target: atMost(mostBytes) }),
    },
    {
      name: `${of}, captured to readable, p50`,
      value: quantile(whole.lags, 0.5),
      unit: 'ms',
      ...(lingerMs === DEFAULT_LINGER_MS && { target: atMost(400) }),
    },
    {
      name: `${of}, captured to readable, p99`,
      value: quantile(whole.lags, 0.99),
      unit: 'ms',
      ...(lingerMs === DEFAULT_LINGER_MS && { target: atMost(1_000) }),
    },
  ];
  return { figures, idle };
}

/** No task is folded any more: what is planned stays as it is while frames come. */
async function holdFolds({ database: { db } }: ResultsWorld): Promise<void> {
  await db('ingests').update({ fold_at: 'infinity' });
  await delay(FOLDS_END_MS);
  // Folds that were under way have planned the next one.
  await db('ingests').update({ fold_at: 'infinity' });
}

/** Whose processor time is counted. */
type Part = 'serviceS' | 'databaseS' | 'kafkaS';

const useOfStores = ({ child }: RunningProcess) => ({
  serviceS: cpuSecondsOf(child.pid ?? 0),
  databaseS: useOf('postgres').cpuS,
});

/** The service begins anew with frames that are all old enough, and has nothing else to do: no task is due to fold. */
async function compact(world: ResultsWorld, case_: EvenArrival, idle: Used<Part>): Promise<Figure[]> {
  const frames = await world.stored();
  const { db } = world.database;
  // They were to stay in the database for ten minutes.
  await db('ingests').update({ compact_at: db.fn.now() });
  const service = await world.start({ SEGMENT_YOUNG_MS: '1000' });
  const use = () => ({ ...useOfStores(service), kafkaS: 0 });
  // Objects are read back a minute after they were stored, and most of that time is idle.
  const moving = () => until(() => isCompact(world), { timeoutMs: 600_000, intervalMs: 250 });
  const busy = await useIn(use, moving);
  const usedS = (busy.serviceS - idle.serviceS) * busy.seconds;
  await service.stop();
  return [
    {
      name: `${nameOf(case_)}, processor time of results to move a frame to the object store and read it back`,
      value: (usedS * 1e6) / frames,
      unit: 'us',
      target: atMost(60),
    },
  ];
}

async function isCompact({ database: { db } }: ResultsWorld): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ isCompact: boolean }] }>(
    `select not exists (select from segments where body is not null)
        and not exists (select from segment_copies) as "isCompact"`,
  );
  return rows[0].isCompact;
}

const nameOf = ({ streams, lingerMs }: EvenArrival) =>
  `${streams} streams, ${lingerMs === undefined ? 'frame by frame' : `segments of ${lingerMs} ms`}`;

const brokersOf = ({ programs }: Brokers) => (programs.length === 1 ? 'Kafka' : `${programs.length} brokers`);
