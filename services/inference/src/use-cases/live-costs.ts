import type { ImageSize } from '@vision/contracts/detection';
import type { DecoderListener } from '../decoding/decoder.ts';
import { classOf, createDecodeCosts } from '../domain/decode-costs.ts';
import type { DecodeCosts } from '../domain/decode-costs.ts';

/** Share of the cores that live streams may take; the rest is for files, pictures, and what surrounds detection. */
const SHARE = 0.7;
/** What decoding a stream takes before any was measured: about 720p at 25 frames a second, in cores. */
const FIRST_DECODE = 0.06;
/** How much a new measurement counts against those before. */
const WEIGHT = 0.2;
/** A stream that gets less than this share of its frames is behind. */
const FULL = 0.9;
/** A decoder that waited for a processor for this share of the time gave its frames in bursts because of us. */
const STARVED = 0.25;

/** What one live stream takes and gets, told by those who work on it. */
interface LiveMeter {
  /** What decodes it now. */
  decoder: DecoderListener;
  /** A frame was handed on for detection. */
  frameTaken: (passedOver: PassedOver) => void;
  end: () => void;
}

/** Frames that are not handed on, because a fresher one was there. */
export interface PassedOver {
  /** They waited while detection was busy. */
  waited: number;
  /** They came together with the fresher one: the source, the network or our decoder held them back. */
  atOnce: number;
}

export interface LiveCostsOptions {
  /** Processors that this process may use. */
  cores: number;
  fps: number;
  /** Processor time in milliseconds by process group. */
  decoderTimes: () => Map<number, number>;
  /** Time in milliseconds for which the threads of these process groups wanted a processor and had none. */
  decoderWaits: (groups: readonly number[]) => Map<number, number>;
  /** Milliseconds of processor time of one detection that a new stream is expected to take. */
  expectedDetectMs: () => number;
  /** Monotonic clock, milliseconds. */
  now?: () => number;
}

/** A stream as it is watched. */
interface WatchedStream {
  /** Milliseconds of processor time of one detection in a picture of the stream. */
  detectMs: (image: ImageSize) => number;
  /** Told when it begins to get less than its rate, and when it no longer does. */
  onBehind: (isBehind: boolean) => void;
}

/** Measures what live streams cost this worker, and says how many of them it can compute. */
export interface LiveCosts {
  watch: (stream: WatchedStream) => LiveMeter;
  /** Takes the measurements; every few seconds. */
  measure: () => void;
  /** Live streams that can be computed together: those that are here, and as many more as there is processor time. */
  places: () => number;
  /** Streams by whether they get all their frames. */
  rates: () => { full: number; behind: number };
  /** Cores assumed for any stream: the next one is unknown before it arrives. */
  costOfOne: () => number;
  /** Cores that decoding takes, by class of the source, where it was measured. */
  decoding: DecodeCosts['measured'];
}

interface Watched {
  stream: WatchedStream;
  video: Parameters<DecoderListener['sees']>[0] | undefined;
  /** The last one decodes. */
  groups: readonly number[];
  /** Their processor time at the last measurement; undefined for a connection that is new. */
  groupMs: number | undefined;
  /** How long it had waited for a processor by then. */
  waitMs: number | undefined;
  taken: number;
  waited: number;
  atOnce: number;
  isBehind: boolean;
  /** Cores it takes; undefined before it was measured. */
  cost: number | undefined;
}

export function createLiveCosts(options: LiveCostsOptions): LiveCosts {
  const { cores, fps, now = () => performance.now() } = options;
  const watched = new Set<Watched>();
  let measuredAtMs = now();
  const decodeCosts = createDecodeCosts();
  let typical: number | undefined;
  const costOfOne = () => typical ?? (fps * options.expectedDetectMs()) / 1000 + FIRST_DECODE;

  /** Before it was measured, a stream costs what others of its class do. */
  const costOf = ({ cost, video, stream }: Watched) => {
    if (cost !== undefined) return cost;
    if (!video) return costOfOne();
    return decodeCosts.coresFor(classOf(video, video.codec)) + (fps * stream.detectMs(video)) / 1000;
  };
  const measureOne = (one: Watched, times: Map<number, number>, elapsedMs: number) => {
    const groupMs = timeOf(one.groups, times);
    const { video } = one;
    if (groupMs !== undefined && one.groupMs !== undefined && video) {
      const decode = Math.max(0, groupMs - one.groupMs) / elapsedMs;
      decodeCosts.add(classOf(video, video.codec), decode);
      one.cost = smoothed(one.cost, decode + (fps * one.stream.detectMs(video)) / 1000);
      typical = smoothed(typical, one.cost);
    }
    one.groupMs = groupMs;
  };
  return {
    watch: (stream) => {
      const one = newlyWatched(stream);
      watched.add(one);
      return { ...meterOf(one), end: () => void watched.delete(one) };
    },
    measure: () => {
      const elapsedMs = now() - measuredAtMs;
      measuredAtMs += elapsedMs;
      if (watched.size === 0 || elapsedMs <= 0) return;
      const times = options.decoderTimes();
      const waits = options.decoderWaits([...watched].flatMap(({ groups }) => groups.slice(-1)));
      for (const one of watched) {
        measureOne(one, times, elapsedMs);
        const decoder = one.groups.at(-1);
        const waitMs = decoder === undefined ? undefined : waits.get(decoder);
        const isStarved = (waitMs ?? 0) - (one.waitMs ?? waitMs ?? 0) > STARVED * elapsedMs;
        one.waitMs = waitMs;
        evaluateRate(one, { fps, isStarved });
      }
    },
    places: () => {
      const used = [...watched].reduce((sum, one) => sum + costOf(one), 0);
      // Streams that are behind show that something else takes the processors, or that a model server is slow. It is
      // for most of them to show: what one stream does closes this worker to no other.
      const behind = [...watched].filter(({ isBehind }) => isBehind).length;
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

const meterOf = (one: Watched): Omit<LiveMeter, 'end'> => ({
  decoder: {
    started: (groups) => Object.assign(one, { groups, groupMs: undefined, waitMs: undefined }),
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
  groupMs: undefined,
  waitMs: undefined,
  taken: 0,
  waited: 0,
  atOnce: 0,
  isBehind: false,
  cost: undefined,
});

/** Frames count as passed over when they waited for our detector or for a processor, not when they came late. */
function evaluateRate(one: Watched, { fps, isStarved }: { fps: number; isStarved: boolean }): void {
  const passedOver = one.waited + (isStarved ? one.atOnce : 0);
  const frames = one.taken + passedOver;
  // Fewer say nothing: the source itself may be slow.
  if (frames < 2 * fps) return;
  const isBehind = one.taken < FULL * frames;
  if (isBehind !== one.isBehind) one.stream.onBehind(isBehind);
  Object.assign(one, { isBehind, taken: 0, waited: 0, atOnce: 0 });
}

/** Of all groups together; undefined when one of them is not there. */
function timeOf(groups: readonly number[], times: ReadonlyMap<number, number>): number | undefined {
  const known = groups.map((group) => times.get(group)).filter((time) => time !== undefined);
  if (groups.length === 0 || known.length < groups.length) return undefined;
  return known.reduce((sum, time) => sum + time, 0);
}

const smoothed = (before: number | undefined, next: number) =>
  before === undefined ? next : before + WEIGHT * (next - before);
