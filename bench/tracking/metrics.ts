import { assign } from '../../services/inference/src/tracking/assignment.ts';
import { bufferedIou } from '../../services/inference/src/tracking/box-motion.ts';
import type { Compared } from './sequence.ts';

/** All but `switches` in percent. */
export interface Scores {
  mota: number;
  idf1: number;
  hota: number;
  switches: number;
}

const LEAST_IOU = 0.5;

/** What the papers on tracking report, for one sequence. */
export function score(frames: Compared[]): Scores {
  const overlaps = frames.map(overlapsOf);
  const { mota, switches } = clearMot(frames, overlaps);
  return { mota, switches, idf1: identityF1(frames, overlaps), hota: hota(frames, overlaps) };
}

/** Overlap of each object that is there with each box that is shown. */
type Overlaps = number[][];

function overlapsOf({ truth, shown }: Compared): Overlaps {
  return truth.map((object) => shown.map((box) => bufferedIou(object.bbox, box.bbox, 0)));
}

/**
 * Source: K. Bernardin, R. Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The CLEAR MOT Metrics"
 * (2008), as py-motmetrics computes it: pairs of the frame before are kept while they overlap.
 */
function clearMot(frames: Compared[], overlaps: Overlaps[]) {
  const shownAs = new Map<number, number | string>();
  const counts = { objects: 0, missed: 0, wrong: 0, switches: 0 };
  frames.forEach(({ truth, shown }, frame) => {
    const overlap = (row: number, column: number) => overlaps[frame]?.[row]?.[column] ?? 0;
    const kept = new Map<number, number>();
    truth.forEach(({ id }, row) => {
      const column = shown.findIndex((box) => box.id === shownAs.get(id));
      if (column >= 0 && overlap(row, column) >= LEAST_IOU && ![...kept.values()].includes(column)) {
        kept.set(row, column);
      }
    });
    const taken = new Set(kept.values());
    const pairs = assign(truth.length, shown.length, (row, column) =>
      kept.has(row) || taken.has(column) || overlap(row, column) < LEAST_IOU ? 0 : 1 + overlap(row, column),
    );
    let matched = 0;
    truth.forEach(({ id }, row) => {
      const box = shown[kept.get(row) ?? pairs[row] ?? -1];
      if (!box) return;
      matched += 1;
      if (shownAs.has(id) && shownAs.get(id) !== box.id) counts.switches += 1;
      shownAs.set(id, box.id);
    });
    counts.objects += truth.length;
    counts.missed += truth.length - matched;
    counts.wrong += shown.length - matched;
  });
  const { objects, missed, wrong, switches } = counts;
  return { mota: 100 * (1 - (missed + wrong + switches) / Math.max(1, objects)), switches };
}

/** Source: E. Ristani et al., "Performance Measures and a Data Set for Multi-Target, Multi-Camera Tracking" (2016). */
function identityF1(frames: Compared[], overlaps: Overlaps[]): number {
  const { truthIds, shownIds, truthCount, shownCount } = identities(frames);
  const together = table(truthIds.size, shownIds.size);
  frames.forEach(({ truth, shown }, frame) =>
    truth.forEach((object, row) =>
      shown.forEach((box, column) => {
        if ((overlaps[frame]?.[row]?.[column] ?? 0) < LEAST_IOU) return;
        add(together, truthIds.get(object.id) ?? 0, shownIds.get(box.id) ?? 0, 1);
      }),
    ),
  );
  const pairs = assign(truthIds.size, shownIds.size, (row, column) => together[row]?.[column] ?? 0);
  const right = pairs.reduce((total, column, row) => total + (together[row]?.[column] ?? 0), 0);
  return (200 * right) / Math.max(1, sum(truthCount) + sum(shownCount));
}

/**
 * Source: J. Luiten et al., "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking" (2021), as TrackEval
 * computes it: mean over overlaps of 0.05 to 0.95.
 */
function hota(frames: Compared[], overlaps: Overlaps[]): number {
  const { truthIds, shownIds, truthCount, shownCount } = identities(frames);
  const likeness = alignment(frames, overlaps);
  const levels = Array.from({ length: 19 }, (_, index) => ({
    least: 0.05 * (index + 1) - Number.EPSILON,
    pairs: 0,
    together: table(truthIds.size, shownIds.size),
  }));
  frames.forEach(({ truth, shown }, frame) => {
    const overlap = (row: number, column: number) => overlaps[frame]?.[row]?.[column] ?? 0;
    const truthAt = truth.map(({ id }) => truthIds.get(id) ?? 0);
    const shownAt = shown.map(({ id }) => shownIds.get(id) ?? 0);
    const pairs = assign(
      truth.length,
      shown.length,
      (row, column) => (likeness[truthAt[row] ?? 0]?.[shownAt[column] ?? 0] ?? 0) * overlap(row, column),
    );
    pairs.forEach((column, row) => {
      for (const level of levels) {
        if (column < 0 || overlap(row, column) < level.least) continue;
        level.pairs += 1;
        add(level.together, truthAt[row] ?? 0, shownAt[column] ?? 0, 1);
      }
    });
  });
  const everything = sum(truthCount) + sum(shownCount);
  const values = levels.map(({ pairs, together }) => {
    const detection = pairs / Math.max(1, everything - pairs);
    let association = 0;
    together.forEach((row, one) =>
      row.forEach((count, other) => {
        association += count ** 2 / Math.max(1, (truthCount[one] ?? 0) + (shownCount[other] ?? 0) - count);
      }),
    );
    return Math.sqrt((detection * association) / Math.max(1, pairs));
  });
  return (100 * sum(values)) / values.length;
}

/** How much each true and each shown identity belong together over the whole sequence, 0..1. */
function alignment(frames: Compared[], overlaps: Overlaps[]): Float64Array[] {
  const { truthIds, shownIds, truthCount, shownCount } = identities(frames);
  const shared = table(truthIds.size, shownIds.size);
  frames.forEach(({ truth, shown }, frame) => {
    const values = overlaps[frame] ?? [];
    const ofTruth = values.map(sum);
    const ofShown = shown.map((_, column) => sum(values.map((row) => row[column] ?? 0)));
    truth.forEach((object, row) =>
      shown.forEach((box, column) => {
        const value = values[row]?.[column] ?? 0;
        if (value === 0) return;
        const share = value / ((ofTruth[row] ?? 0) + (ofShown[column] ?? 0) - value);
        add(shared, truthIds.get(object.id) ?? 0, shownIds.get(box.id) ?? 0, share);
      }),
    );
  });
  shared.forEach((row, one) =>
    row.forEach((value, other) => {
      row[other] = value / ((truthCount[one] ?? 0) + (shownCount[other] ?? 0) - value);
    }),
  );
  return shared;
}

/** Position of each identity in the tables, and in how many frames it is there. */
function identities(frames: Compared[]) {
  const truth = tally(frames.flatMap((frame) => frame.truth.map(({ id }) => id)));
  const shown = tally(frames.flatMap((frame) => frame.shown.map(({ id }) => id)));
  return { truthIds: truth.ids, truthCount: truth.counts, shownIds: shown.ids, shownCount: shown.counts };
}

function tally<T>(items: T[]) {
  const ids = new Map<T, number>();
  const counts: number[] = [];
  for (const item of items) {
    const index = ids.get(item) ?? ids.size;
    ids.set(item, index);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return { ids, counts };
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

const table = (rows: number, columns: number) => Array.from({ length: rows }, () => new Float64Array(columns));

function add(cells: Float64Array[], row: number, column: number, value: number): void {
  const line = cells[row];
  if (line) line[column] = (line[column] ?? 0) + value;
}
