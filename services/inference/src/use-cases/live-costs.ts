import type { ImageSize } from '@vision/contracts/detection';
import type { DecoderListener } from '../decoding/decoder.ts';
import { classOf, createDecodeCosts } from '../domain/decode-costs.ts';
import type { DecodeCosts } from '../domain/decode-costs.ts';
import { createTypicalCost } from '../domain/typical-cost.ts';

/** Share of the cores that live streams may take; the rest is for files, images and other work of the process. */
const SHARE = 0.7;
/** Assumed cost of decoding before the first measurement, in cores: about 720p at 25 frames a second. */
const FIRST_DECODE = 0.06;
/** Weight of a new measurement in the moving average. */
const WEIGHT = 0.2;
/** A stream that gets less than this share of its frames is below its frame rate. */
const FULL = 0.9;
/** A decoder that waited for a processor for this share of the time sends bursts because this machine is busy. */
const STARVED = 0.25;

/** Receives the processor use and the frames of one live stream. */
interface LiveMeter {
  /** Observer of its current decoder. */
  decoder: DecoderListener;
  /** Called when a frame is taken for detection. */
  frameTaken: (passedOver: PassedOver) => void;
  end: () => void;
}

/** Numbers of frames that are skipped for a newer one. */
export interface PassedOver {
  /** They waited while detection was busy. */
  waited: number;
  /** They came together with the newer one: the source, the network or our decoder had delayed them. */
  atOnce: number;
}

export interface LiveCostsOptions {
  /** Processors that this process may use. */
  cores: number;
  fps: number;
  /** Processor time in milliseconds by process group. */
  decoderTimes: () => Map<number, number>;
  /** Time in milliseconds for which the threads of these process groups waited for a processor. */
  decoderWaits: (groups: readonly number[]) => Map<number, number>;
  /** Cores that a decoder may take at the ordinary priority. */
  heavyCores: number;
  /** Lowers the priority of a decoder that takes more, so that other work comes first. */
  lowerDecoder: (group: number) => void;
  /** Expected processor time of one detection in a new stream, in milliseconds. */
  expectedDetectMs: () => number;
  /** Monotonic clock, milliseconds. */
  now?: () => number;
}

/** A monitored stream. */
interface WatchedStream {
  /** Processor time of one detection in a frame of the stream, in milliseconds. */
  detectMs: (image: ImageSize) => number;
  /** Called when it falls below its frame rate, and when it is at its full rate again. */
  onBehind: (isBehind: boolean) => void;
  /** Called when the priority of its decoder is lowered, with the cores that it took. */
  onLowered: (cores: number) => void;
}

/** Measures the processor time of live streams on this worker, and derives how many of them it can compute. */
export interface LiveCosts {
  watch: (stream: WatchedStream) => LiveMeter;
  /** Takes the measurements; every few seconds. */
  measure: () => void;
  /** Number of live streams that can be computed: the running ones, and as many more as there is processor time for. */
  places: () => number;
  /** Numbers of streams at their full rate and below it. */
  rates: () => { full: number; behind: number };
  /** Cores assumed for the next stream, whose size and codec are unknown before it arrives. */
  costOfOne: () => number;
  /** Measured cores that decoding takes, by class of the source. */
  decoding: DecodeCosts['measured'];
}

interface Watched {
  stream: WatchedStream;
  video: Parameters<DecoderListener['sees']>[0] | undefined;
  /** The last one decodes. */
  groups: readonly number[];
  /** Their processor time at the last measurement; undefined for a new connection. */
  groupMs: number | undefined;
  /** Processor time of the decoder at that measurement, and its waiting time for a processor. */
  decoderMs: number;
  waitMs: number | undefined;
  /** Its decoder took too much of a core at that measurement. */
  isHeavy: boolean;
  taken: number;
  waited: number;
  atOnce: number;
  isBehind: boolean;
  /** Cores that it takes; undefined before the first measurement. */
  cost: number | undefined;
}

interface DecoderUse {
  decoder: number;
  spentMs: number | undefined;
  elapsedMs: number;
}

export function createLiveCosts(options: LiveCostsOptions): LiveCosts {
  const { cores, fps, now = () => performance.now() } = options;
  const watched = new Set<Watched>();
  let measuredAtMs = now();
  const decodeCosts = createDecodeCosts();
  const typical = createTypicalCost();
  const costOfOne = () => {
    const running = [...watched].flatMap(({ cost }) => cost ?? []);
    return typical.expected(running, (fps * options.expectedDetectMs()) / 1000 + FIRST_DECODE);
  };

  /** Before its first measurement, a stream is assumed to cost as much as others of its class. */
  const costOf = ({ cost, video, stream }: Watched) => {
    if (cost !== undefined) return cost;
    if (!video) return costOfOne();
    return decodeCosts.coresFor(classOf(video, video.codec)) + (fps * stream.detectMs(video)) / 1000;
  };
  return {
    watch: (stream) => {
      const one = newlyWatched(stream);
      watched.add(one);
      const end = () => {
        watched.delete(one);
        if (one.cost !== undefined) typical.ended(one.cost);
      };
      return { ...meterOf(one, options), end };
    },
    measure: () => {
      const elapsedMs = now() - measuredAtMs;
      measuredAtMs += elapsedMs;
      if (watched.size === 0 || elapsedMs <= 0) return;
      const times = options.decoderTimes();
      const waits = options.decoderWaits([...watched].flatMap(({ groups }) => groups.slice(-1)));
      for (const one of watched) {
        measureCost(options, decodeCosts, one, { times, elapsedMs });
        const decoder = one.groups.at(-1);
        if (decoder !== undefined) lowerHeavy(options, one, { decoder, spentMs: times.get(decoder), elapsedMs });
        const waitMs = decoder === undefined ? undefined : waits.get(decoder);
        const isStarved = (waitMs ?? 0) - (one.waitMs ?? waitMs ?? 0) > STARVED * elapsedMs;
        one.waitMs = waitMs;
        evaluateRate(one, { fps, isStarved });
      }
    },
    places: () => {
      const used = [...watched].reduce((sum, one) => sum + costOf(one), 0);
      // When most streams are below their frame rates, other work takes the processors, or a model server is slow. A
      // minority does not close this worker to other streams: its own sources may be the cause.
      // Nor do those whose decoders have a lower priority: they wait because others come first.
      const behind = [...watched].filter(({ isBehind, isHeavy }) => isBehind && !isHeavy).length;
      const isSlow = behind > Math.max(1, watched.size / 2);
      const more = isSlow ? 0 : Math.floor((cores * SHARE - used) / costOfOne());
      return Math.max(1, watched.size + Math.max(0, more));
    },
    rates: () => {
      const behind = [...watched].filter(({ isBehind }) => isBehind).length;
      return { full: watched.size - behind, behind };
    },
    costOfOne,
    decoding: decodeCosts.measured,
  };
}

const NO_USE = { groupMs: undefined, waitMs: undefined, decoderMs: 0 };

const meterOf = (one: Watched, { lowerDecoder }: LiveCostsOptions): Omit<LiveMeter, 'end'> => ({
  decoder: {
    started: (groups) => {
      Object.assign(one, { groups, ...NO_USE });
      const decoder = groups.at(-1);
      if (one.isHeavy && decoder !== undefined) lowerDecoder(decoder);
    },
    sees: (video) => Object.assign(one, { video }),
  },
  frameTaken: ({ waited, atOnce }) => {
    one.taken += 1;
    one.waited += waited;
    one.atOnce += atOnce;
  },
});

const newlyWatched = (stream: WatchedStream): Watched => ({
  stream,
  video: undefined,
  groups: [],
  ...NO_USE,
  isHeavy: false,
  taken: 0,
  waited: 0,
  atOnce: 0,
  isBehind: false,
  cost: undefined,
});

interface Measured {
  times: Map<number, number>;
  elapsedMs: number;
}

function measureCost(
  { fps, heavyCores }: LiveCostsOptions,
  decodeCosts: DecodeCosts,
  one: Watched,
  { times, elapsedMs }: Measured,
): void {
  const groupMs = timeOf(one.groups, times);
  const { video } = one;
  if (groupMs !== undefined && one.groupMs !== undefined && video) {
    const decode = Math.max(0, groupMs - one.groupMs) / elapsedMs;
    decodeCosts.add(classOf(video, video.codec), decode);
    // What a decoder takes beyond that yields to other work.
    const claimed = Math.min(decode, heavyCores);
    one.cost = smoothed(one.cost, claimed + (fps * one.stream.detectMs(video)) / 1000);
  }
  one.groupMs = groupMs;
}

/**
 * A decoder that stays heavy is lowered at each measurement, as it may have started threads meanwhile; the next one of
 * its stream from the start.
 */
function lowerHeavy(
  { heavyCores, lowerDecoder }: LiveCostsOptions,
  one: Watched,
  { decoder, spentMs, elapsedMs }: DecoderUse,
): void {
  if (spentMs === undefined) return;
  const usedCores = (spentMs - one.decoderMs) / elapsedMs;
  one.decoderMs = spentMs;
  const isHeavy = usedCores > heavyCores;
  if (isHeavy) lowerDecoder(decoder);
  if (isHeavy && !one.isHeavy) one.stream.onLowered(usedCores);
  one.isHeavy = isHeavy;
}

/** Frames count as skipped when they waited for our detector or for a processor, not when they arrived late. */
function evaluateRate(one: Watched, { fps, isStarved }: { fps: number; isStarved: boolean }): void {
  const passedOver = one.waited + (isStarved ? one.atOnce : 0);
  const frames = one.taken + passedOver;
  // Fewer frames are no evidence: the source itself may be slow.
  if (frames < 2 * fps) return;
  const isBehind = one.taken < FULL * frames;
  if (isBehind !== one.isBehind) one.stream.onBehind(isBehind);
  Object.assign(one, { isBehind, taken: 0, waited: 0, atOnce: 0 });
}

/** Sum over all groups; undefined when one of them is missing. */
function timeOf(groups: readonly number[], times: ReadonlyMap<number, number>): number | undefined {
  const known = groups.map((group) => times.get(group)).filter((time) => time !== undefined);
  if (groups.length === 0 || known.length < groups.length) return undefined;
  return known.reduce((sum, time) => sum + time, 0);
}

const smoothed = (before: number | undefined, next: number) =>
  before === undefined ? next : before + WEIGHT * (next - before);
