import type { Curve } from '@vision/contracts/calibration';

/** Raw score of a box, and whether the box is right. */
export interface Sample {
  raw: number;
  isRight: boolean;
}

export interface FitOptions {
  /** Boxes behind each point at least; fewer say more of their own luck than of the detector. */
  minCount: number;
  /** Least rise of the curve for a rise of the raw score by 1, so that the raw score can be told from the published. */
  minSlope: number;
}

export const FIT_DEFAULTS: FitOptions = { minCount: 40, minSlope: 0.05 };

/** Neighbouring boxes that count as equally likely to be right. */
interface Block {
  count: number;
  right: number;
  /** Mean raw scores of its first and of its last group, and of all. */
  first: number;
  last: number;
  raw: number;
}

/**
 * The probability of being right by raw score, as a strictly increasing, piecewise linear curve from [0, 0] to [1, 1].
 *
 * Boxes in the order of their scores are put into groups of `minCount`, and neighbours whose share of right boxes does
 * not rise become one (pool adjacent violators: M. Ayer et al., "An empirical distribution function for sampling with
 * incomplete information", 1955; for scores of classifiers: B. Zadrozny and C. Elkan, KDD 2002). A group is a point at
 * the mean of its scores, groups that became one are a stretch from the first to the last of them, and the lines
 * between are straight (after centered isotonic regression: A. P. Oron and N. Flournoy, Statistics in
 * Biopharmaceutical Research 9, 2017). Stretches get the least slope, so that different scores stay different. A group
 * of n boxes with k right ones counts as (k + 1/2) / (n + 1), so that none is surely right.
 *
 * @throws RangeError when there are fewer boxes than make two groups
 */
export function fitCurve(samples: readonly Sample[], options: FitOptions = FIT_DEFAULTS): Curve {
  const { minCount } = options;
  if (samples.length < 2 * minCount) {
    throw new RangeError(`${samples.length} boxes are too few for a curve: ${2 * minCount} or more are needed`);
  }
  return withRise(pooled(groupsOf(samples, minCount)), options);
}

/** Groups of almost equal size in the order of the scores. */
function groupsOf(samples: readonly Sample[], size: number): Block[] {
  const sorted = samples.toSorted((a, b) => a.raw - b.raw);
  const groups = Math.floor(sorted.length / size);
  return Array.from({ length: groups }, (_, index) => {
    const from = Math.round((index * sorted.length) / groups);
    const to = Math.round(((index + 1) * sorted.length) / groups);
    return blockOf(sorted.slice(from, to));
  });
}

function blockOf(samples: readonly Sample[]): Block {
  const raw = samples.reduce((sum, sample) => sum + sample.raw, 0) / samples.length;
  const right = samples.filter(({ isRight }) => isRight).length;
  return { count: samples.length, right, first: raw, last: raw, raw };
}

const shareOf = ({ right, count }: Block) => (right + 0.5) / (count + 1);

function pooled(blocks: readonly Block[]): Block[] {
  const kept: Block[] = [];
  for (const block of blocks) {
    let last = block;
    for (let before = kept.at(-1); before && shareOf(before) >= shareOf(last); before = kept.at(-1)) {
      kept.pop();
      last = joined(before, last);
    }
    kept.push(last);
  }
  return kept;
}

const joined = (a: Block, b: Block): Block => ({
  count: a.count + b.count,
  right: a.right + b.right,
  first: a.first,
  last: b.last,
  raw: (a.raw * a.count + b.raw * b.count) / (a.count + b.count),
});

/** Points with four digits that rise by the least slope everywhere, up to the corner too. */
function withRise(blocks: readonly Block[], { minSlope }: FitOptions): Curve {
  const points: Curve = [[0, 0]];
  for (const block of blocks) {
    for (const raw of [block.first, block.last]) {
      addPoint(points, [raw, shareOf(block) + minSlope * (raw - block.raw)], minSlope);
    }
  }
  return [...points, [1, 1]];
}

function addPoint(points: Curve, [raw, share]: Curve[number], minSlope: number): void {
  const [lastRaw, lastShare] = points.at(-1) ?? [0, 0];
  const least = lastShare + minSlope * (raw - lastRaw);
  const most = 1 - minSlope * (1 - raw);
  const point: Curve[number] = [digits(raw), digits(Math.min(most, Math.max(least, share)))];
  if (point[0] > lastRaw && point[0] < 1 && point[1] > lastShare && point[1] < 1) points.push(point);
}

const digits = (value: number) => Math.round(value * 1e4) / 1e4;
