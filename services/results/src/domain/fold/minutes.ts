import type { ObjectView } from './tracks.ts';
import type { TrackFacts } from './tracks.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
/** Score bins of 0.05; bin b holds scores from b × 0.05, the last one also 1. */
export const BINS = 20;
/** Width of a bin, in millionths of a score. */
export const BIN_MILLIONTHS = 1_000_000 / BINS;

/**
 * Counts of one label in one period, `BINS` of each kind, in this order: most objects in one frame at or above the bin;
 * frames whose best object is in the bin; tracks that began, by their best score; the same for tracks with only one
 * frame.
 */
export type LabelCounts = Int32Array;
/** Start index of each kind of count but the first. */
export const [FRAMES_AT, BEGUN_AT, ONCE_AT] = [BINS, 2 * BINS, 3 * BINS];
export const COUNTS = 4 * BINS;

/** Facts about one minute of a task, or about some of its frames. */
export interface Minute {
  frames: number;
  /** Seconds that have a frame: bit s of `low` is second s, bit s of `high` second 30 + s. */
  low: number;
  high: number;
  labels: Map<string, LabelCounts>;
}

export const emptyMinute = (): Minute => ({ frames: 0, low: 0, high: 0, labels: new Map() });

export const minuteOf = (timeMs: number): number => Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
export const hourOf = (timeMs: number): number => Math.floor(timeMs / HOUR_MS) * HOUR_MS;
const binOf = (score: number): number => Math.min(BINS - 1, Math.floor(score / BIN_MILLIONTHS));

/** Counts the objects of one frame by label and bin; one instance is reused for all frames. */
export class FrameCounter {
  readonly #labels = new Map<string, { counts: Int32Array; best: number }>();
  readonly #used: string[] = [];

  add({ label, score }: ObjectView): void {
    let own = this.#labels.get(label);
    if (!own) this.#labels.set(label, (own = { counts: new Int32Array(BINS), best: -1 }));
    const bin = binOf(score);
    if (own.best < 0) this.#used.push(label);
    if (bin > own.best) own.best = bin;
    own.counts[bin] = (own.counts[bin] ?? 0) + 1;
  }

  /** Adds the counts to the minute of the frame, and clears them. */
  flushTo(minute: Minute): void {
    for (const label of this.#used) {
      const own = this.#labels.get(label);
      if (!own) continue;
      const into = countsOf(minute.labels, label);
      let atOrAbove = 0;
      for (let bin = own.best; bin >= 0; bin -= 1) {
        atOrAbove += own.counts[bin] ?? 0;
        own.counts[bin] = 0;
        if (atOrAbove > (into[bin] ?? 0)) into[bin] = atOrAbove;
      }
      into[FRAMES_AT + own.best] = (into[FRAMES_AT + own.best] ?? 0) + 1;
      own.best = -1;
    }
    this.#used.length = 0;
  }
}

/** Counts one frame of this minute. */
export function addFrame(minute: Minute, timeMs: number): void {
  minute.frames += 1;
  const second = Math.floor((timeMs - minuteOf(timeMs)) / 1000);
  if (second < 30) minute.low |= 1 << second;
  else minute.high |= 1 << (second - 30);
}

/** Counted facts of a track at its beginning. */
export interface BegunTrack extends Pick<TrackFacts, 'label' | 'frames'> {
  best: { score: number };
}

/** Counts a track that began in this minute; `times` is -1 to subtract an earlier count. */
export function addBegun(minute: Minute, { label, frames, best }: BegunTrack, times: 1 | -1): void {
  const into = countsOf(minute.labels, label);
  const at = (frames === 1 ? ONCE_AT : BEGUN_AT) + binOf(best.score);
  into[at] = (into[at] ?? 0) + times;
}

/** A copy of the minutes that can be changed. */
export function copyOf(minutes: ReadonlyMap<number, Minute>): Map<number, Minute> {
  const copy = new Map<number, Minute>();
  for (const [start, minute] of minutes) {
    const own = emptyMinute();
    mergeMinute(own, minute);
    copy.set(start, own);
  }
  return copy;
}

/** Adds the facts of one minute to another, in place. */
export function mergeMinute(into: Minute, from: Minute): void {
  into.frames += from.frames;
  into.low |= from.low;
  into.high |= from.high;
  for (const [label, counts] of from.labels) mergeCounts(countsOf(into.labels, label), counts);
}

/** Adds the counts of one period to those of another, in place. */
export function mergeCounts(into: LabelCounts, from: LabelCounts): void {
  for (let at = 0; at < BINS; at += 1) into[at] = Math.max(into[at] ?? 0, from[at] ?? 0);
  for (let at = BINS; at < COUNTS; at += 1) into[at] = (into[at] ?? 0) + (from[at] ?? 0);
}

export function countsOf(labels: Map<string, LabelCounts>, label: string): LabelCounts {
  let own = labels.get(label);
  if (!own) labels.set(label, (own = emptyCounts()));
  return own;
}

/**
 * Counts that are 0. Those of several labels share one allocation: a timeline has thousands of them, and allocating and
 * collecting each separately takes longer than reading its counts.
 */
export function emptyCounts(): LabelCounts {
  if (taken === TOGETHER) [piece, taken] = [new ArrayBuffer(TOGETHER * BYTES), 0];
  const counts = new Int32Array(piece, taken * BYTES, COUNTS);
  taken += 1;
  return counts;
}

const BYTES = COUNTS * Int32Array.BYTES_PER_ELEMENT;
const TOGETHER = 64;
let [piece, taken] = [new ArrayBuffer(0), TOGETHER];
