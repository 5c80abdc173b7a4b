import { setTimeout as delay } from 'node:timers/promises';
import { frameProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { createProducer } from '@vision/kafka/producer';
import type { EventProducer } from '@vision/kafka/producer';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { quantile } from './figures.ts';
import type { Figure } from './figures.ts';
import { cpuSecondsOf, useOf } from './process-tree.ts';
import { workOf } from './scale/database-work.ts';
import { createResultsWorld } from './scale/results-world.ts';
import type { ResultsWorld } from './scale/results-world.ts';
import { liveFrames } from './street-frames.ts';
import { syntheticTaskId } from './synthetic-frames.ts';

export const name = 'scale-frames';

const STREAMS = [100, 1_000, 10_000];
const FRAMES = Math.max(Math.max(...STREAMS), Number(process.env['FRAMES'] || 60_000));
const OBJECTS = 3;
const PACED_S = Number(process.env['PACED_S'] || 30);
/** Streams of the paced run send in turn, so that this share of what one replica stored before comes each second. */
const PACE = 0.5;

/**
 * Frames of more and more streams into the results service, a process of its own: first as fast as it stores them from
 * a full topic, in which the streams alternate frame by frame; then from the most streams at half of that rate, as they
 * come. Processor time is that of the service and of PostgreSQL, which also serves the idle system beside it.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const framesOf = await liveFrames(FRAMES / Math.min(...STREAMS));
  const backlogs: Cost[] = [];
  for (const streams of STREAMS) backlogs.push(await measureBacklog(framesOf, streams));
  const most = backlogs.at(-1);
  const paced = most ? await measurePaced(framesOf, most) : [];
  return { figures: [...backlogs.flatMap(figuresOf), ...growthOf(backlogs), ...paced] };
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

/** Each second some of the streams send a frame, all of them in turn. */
async function measurePaced(framesOf: FramesOf, { streams, framesPerS }: Cost): Promise<Figure[]> {
  const world = await createResultsWorld();
  try {
    const producer = createProducer(world.kafka.client);
    const aSecond = Math.min(streams, Math.round(framesPerS * PACE));
    const frames = Math.ceil((aSecond * (PACED_S + 1)) / streams) + 1;
    const sources = Array.from({ length: streams }, () => framesOf(syntheticTaskId(), OBJECTS).slice(0, frames));
    const service = await world.start();
    let sent = 0;
    const send = async () => {
      const sentMs = performance.now();
      const chosen = Array.from({ length: aSecond }, (_, index) => sent + index);
      sent += aSecond;
      const upTo = sent;
      await publish(
        producer,
        chosen.map((at) => [sources[at % streams]?.[Math.floor(at / streams)] as FrameData]),
        0,
      );
      return { sentMs, upTo };
    };
    await send();
    await until(async () => (await world.stored()) === sent, { timeoutMs: 60_000, intervalMs: 50 });
    const before = await stateOf(world, service);
    const lags: number[] = [];
    for (let second = 0; second < PACED_S; second += 1) {
      const batch = await send();
      await until(async () => (await world.stored()) >= batch.upTo, { timeoutMs: 60_000, intervalMs: 50 });
      const tookMs = performance.now() - batch.sentMs;
      lags.push(tookMs);
      await delay(Math.max(0, 1_000 - tookMs));
    }
    const cost = costBetween(before, await stateOf(world, service));
    await producer.stop();
    return pacedFigures({ streams, ...cost }, lags);
  } finally {
    await world.close();
  }
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

function pacedFigures(cost: Cost, lags: number[]): Figure[] {
  const of = `${cost.streams} streams, paced,`;
  return [
    ...figuresOf(cost).map((figure) => ({ ...figure, name: figure.name.replace(',', ', paced,') })),
    { name: `${of} sent to stored, a second's frames, p50`, value: quantile(lags, 0.5), unit: 'ms' },
    { name: `${of} sent to stored, p99`, value: quantile(lags, 0.99), unit: 'ms' },
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
