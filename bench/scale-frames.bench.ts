import { frameProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { createProducer } from '@vision/kafka/producer';
import type { EventProducer } from '@vision/kafka/producer';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import type { Figure } from './figures.ts';
import { cpuSecondsOf, useOf } from './process-tree.ts';
import { workOf } from './scale/database-work.ts';
import { ALL_AT_ONCE_S, measureAllAtOnce } from './scale/all-at-once.ts';
import { startBrokers } from './scale/brokers.ts';
import { measureEvenArrival } from './scale/even-arrival.ts';
import type { Brokers } from './scale/brokers.ts';
import type { EvenArrival } from './scale/even-arrival.ts';
import { createResultsWorld } from './scale/results-world.ts';
import type { ResultsWorld } from './scale/results-world.ts';
import { liveFrames } from './street-frames.ts';
import { syntheticTaskId } from './synthetic-frames.ts';

export const name = 'scale-frames';

const STREAMS = [100, 1_000, 10_000];
const FRAMES = Math.max(Math.max(...STREAMS), Number(process.env['FRAMES'] || 60_000));
const OBJECTS = 3;
/** How long each system with cameras runs. */
const EVEN_S = Number(process.env['EVEN_S'] || 103);
const FPS = 5;
/** With three, each record has three copies; cameras with the default of workers alone are measured. */
const BROKERS = Number(process.env['BROKERS'] || 1);
/** So many frames of a task are moved at once; the rest would be a move of its own, which production does not make. */
const MOVED_AT_ONCE = 512;
const EVEN: EvenArrival[] = [
  { streams: 100 },
  { streams: 100, lingerMs: 250, mostBytes: 250 },
  { streams: 1_000, lingerMs: 250, mostBytes: 250 },
  { streams: 1_000, lingerMs: 2_000, mostBytes: 120 },
];
const isDefault = ({ streams, lingerMs }: EvenArrival) => streams === 1_000 && lingerMs === 250;

/**
 * Frames of more and more streams into the results service, a process of its own: first as fast as it stores them from
 * a full topic, in which the streams alternate frame by frame; then as cameras send them, in each form; then for
 * minutes while everything else is at work. Processor time is that of the service and of PostgreSQL, which also serves
 * the idle system beside it.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const brokers = await startBrokers(BROKERS);
  process.env['TEST_KAFKA_BROKERS'] = brokers.addresses;
  try {
    return { figures: await measure(brokers) };
  } finally {
    await brokers.stop();
  }
}

async function measure(brokers: Brokers): Promise<Figure[]> {
  const framesOf = await liveFrames(Math.max(FRAMES / Math.min(...STREAMS), EVEN_S * FPS, ALL_AT_ONCE_S * FPS));
  const backlogs: Cost[] = [];
  for (const streams of BROKERS === 1 ? STREAMS : []) backlogs.push(await measureBacklog(framesOf, streams));
  const each = Math.floor(EVEN_S * FPS);
  const frames = framesOf(syntheticTaskId(), OBJECTS);
  const camera = frames.slice(0, each - (each > MOVED_AT_ONCE ? each % MOVED_AT_ONCE : 0));
  const even: Figure[] = [];
  for (const one of BROKERS === 1 ? EVEN : EVEN.filter(isDefault))
    even.push(...(await measureEvenArrival(brokers, one, camera)));
  if (BROKERS === 1) even.push(...(await measureAllAtOnce(brokers, frames.slice(0, ALL_AT_ONCE_S * FPS))));
  return [...backlogs.flatMap(figuresOf), ...growthOf(backlogs), ...even];
}

type FramesOf = Awaited<ReturnType<typeof liveFrames>>;

interface Cost {
  streams: number;
  framesPerS: number;
  transactions: number;
  serviceMicros: number;
  databaseMicros: number;
}

async function measureBacklog(framesOf: FramesOf, streams: number): Promise<Cost> {
  const world = await createResultsWorld();
  try {
    const producer = createProducer(world.kafka.client);
    const each = Math.floor(FRAMES / streams);
    const sources = Array.from({ length: streams }, () => framesOf(syntheticTaskId(), OBJECTS).slice(0, each));
    for (let seq = 0; seq < each; seq += 1) await publish(producer, sources, seq);
    await producer.stop();
    const service = await world.start();
    await until(async () => (await world.stored()) > 0, { timeoutMs: 60_000, intervalMs: 20 });
    const before = await stateOf(world, service);
    await until(async () => (await world.stored()) === each * streams, { timeoutMs: 600_000, intervalMs: 200 });
    return { streams, ...costBetween(before, await stateOf(world, service)) };
  } finally {
    await world.close();
  }
}

/** One frame of each of the sources, in batches as a worker sends them. */
async function publish(producer: EventProducer, sources: FrameData[][], seq: number): Promise<void> {
  const frames = sources.flatMap((source) => source.slice(seq, seq + 1));
  for (let from = 0; from < frames.length; from += 500)
    await producer.publishBatch(
      frames.slice(from, from + 500).map((data) => ({ ...frameProduced, key: data.job_id, source: 'bench', data })),
    );
}

async function stateOf({ database, stored }: ResultsWorld, { child }: RunningProcess) {
  const [frames, { transactions }] = await Promise.all([stored(), workOf(database.db)]);
  return {
    atMs: performance.now(),
    frames,
    transactions,
    serviceS: cpuSecondsOf(child.pid ?? 0),
    databaseS: useOf('postgres').cpuS,
  };
}

type State = Awaited<ReturnType<typeof stateOf>>;

function costBetween(before: State, after: State): Omit<Cost, 'streams'> {
  const frames = after.frames - before.frames;
  return {
    framesPerS: (frames * 1000) / (after.atMs - before.atMs),
    transactions: (after.transactions - before.transactions) / frames,
    serviceMicros: ((after.serviceS - before.serviceS) * 1e6) / frames,
    databaseMicros: ((after.databaseS - before.databaseS) * 1e6) / frames,
  };
}

function figuresOf({ streams, ...cost }: Cost): Figure[] {
  const of = `${streams} streams,`;
  return [
    { name: `${of} frames of ${OBJECTS} objects stored`, value: cost.framesPerS, unit: '1/s' },
    { name: `${of} transactions per frame`, value: cost.transactions, unit: '' },
    { name: `${of} processor time of results per frame`, value: cost.serviceMicros, unit: 'us' },
    { name: `${of} processor time of PostgreSQL per frame`, value: cost.databaseMicros, unit: 'us' },
  ];
}

function growthOf(costs: Cost[]): Figure[] {
  const [first, last] = [costs[0], costs.at(-1)];
  if (!first || !last) return [];
  return [
    {
      name: `${last.streams} over ${first.streams} streams, frames stored a second`,
      value: last.framesPerS / first.framesPerS,
      unit: 'ratio',
    },
  ];
}
