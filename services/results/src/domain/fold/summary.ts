import { BEGUN_AT, BIN_MILLIONTHS, BINS, FRAMES_AT, ONCE_AT } from './minutes.ts';
import type { LabelCounts } from './minutes.ts';

/** Counts of one label at or above a score. */
export interface LabelSummary {
  tracksBegun: number;
  objectsMax: number;
  objectFrames: number;
}

/** The score bins that a summary counts. */
export interface BinRange {
  /** First bin of objects, frames and tracks. */
  from: number;
  /** First bin of tracks that have one frame only. */
  threshold: number;
}

/** The bins at or above a score; tracks of one frame count from the threshold of their task. Both in millionths. */
export const binsFrom = (score: number, threshold: number): BinRange => ({
  from: Math.floor(score / BIN_MILLIONTHS),
  threshold: Math.ceil(threshold / BIN_MILLIONTHS),
});

/** Sums up the bins of one label. */
export function summaryOf(counts: LabelCounts, { from, threshold }: BinRange): LabelSummary {
  let tracksBegun = 0;
  let objectFrames = 0;
  for (let bin = from; bin < BINS; bin += 1) {
    objectFrames += counts[FRAMES_AT + bin] ?? 0;
    tracksBegun += counts[BEGUN_AT + bin] ?? 0;
    if (bin >= threshold) tracksBegun += counts[ONCE_AT + bin] ?? 0;
  }
  return { tracksBegun, objectsMax: counts[from] ?? 0, objectFrames };
}

/** Adds the summary of one period to that of another, in place. */
export function addSummary(into: LabelSummary, { tracksBegun, objectsMax, objectFrames }: LabelSummary): void {
  into.tracksBegun += tracksBegun;
  into.objectsMax = Math.max(into.objectsMax, objectsMax);
  into.objectFrames += objectFrames;
}
