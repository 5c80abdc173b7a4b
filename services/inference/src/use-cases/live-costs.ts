import type { ImageSize } from '@vision/shared/contracts/detection';
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

/** What one live stream takes and gets, told by those who work on it. */
interface LiveMeter {
  /** What decodes it now. */
  decoder: DecoderListener;
  /** A frame was handed on for detection, and so many were passed over because it was late. */
  frameTaken: (passedOver: number) => void;
  end: () => void;
}

export interface LiveCostsOptions {
  /** Processors that this process may use. */
  cores: number;
  fps: number;
  /** Processor time in milliseconds by process group. */
  decoderTimes: () => Map<number, number>;
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
  /** Cores that a stream takes, whatever it is: the next one is not known before it is there. */
  costOfOne: () => number;
  /** Cores that decoding takes, by class of the source, where it was measured. */
  decoding: DecodeCosts['measured'];
}

interface Watched {
  stream: WatchedStream;
  video: Parameters<DecoderListener['sees']>[0] | undefined;
  group: number | undefined;
  /** Its processor time at the last measurement; undefined for a decoder that is new. */
  groupMs: number | undefined;
  taken: number;
  passedOver: number;
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
    const groupMs = one.group === undefined ? undefined : times.get(one.group);
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
      for (const one of watched) {
        measureOne(one, times, elapsedMs);
        judgeRate(one, fps);
      }
    },
    places: () => {
      const used = [...watched].reduce((sum, one) => sum + costOf(one), 0);
      // Who is behind shows that something else takes the processors, or that a model server is slow.
      const isSlow = [...watched].some(({ isBehind }) => isBehind);
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
    started: (group) => Object.assign(one, { group, groupMs: undefined }),
    sees: (video) => Object.assign(one, { video }),
  },
  frameTaken: (passedOver) => {
    one.taken += 1;
    one.passedOver += passedOver;
  },
});

const newlyWatched = (stream: WatchedStream): Watched => ({
  stream,
  video: undefined,
  group: undefined,
  groupMs: undefined,
  taken: 0,
  passedOver: 0,
  isBehind: false,
  cost: undefined,
});

function judgeRate(one: Watched, fps: number): void {
  const frames = one.taken + one.passedOver;
  // Fewer say nothing: the source itself may be slow.
  if (frames < 2 * fps) return;
  const isBehind = one.taken < FULL * frames;
  if (isBehind !== one.isBehind) one.stream.onBehind(isBehind);
  Object.assign(one, { isBehind, taken: 0, passedOver: 0 });
}

const smoothed = (before: number | undefined, next: number) =>
  before === undefined ? next : before + WEIGHT * (next - before);
