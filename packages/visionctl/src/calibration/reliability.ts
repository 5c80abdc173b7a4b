import type { EvaluatedBox } from './evaluate-boxes.ts';

/** Boxes whose score lies in `[from, to)`; the last bin has its end too. */
export interface ReliabilityBin {
  from: number;
  to: number;
  count: number;
  /** Mean score: how many the scores say are right, as a share; 0 in an empty bin. */
  predicted: number;
  /** Share of those that are right; 0 in an empty bin. */
  observed: number;
}

const BINS = 10;

/** Predicted against observed share of right boxes, in bins of equal width. */
export function reliabilityOf(boxes: readonly EvaluatedBox[]): ReliabilityBin[] {
  return Array.from({ length: BINS }, (_, index) => {
    const inside = boxes.filter(({ score }) => Math.min(BINS - 1, Math.floor(score * BINS + 1e-9)) === index);
    const right = inside.filter(({ isRight }) => isRight).length;
    const sum = inside.reduce((total, { score }) => total + score, 0);
    const count = inside.length;
    const share = (part: number) => (count === 0 ? 0 : part / count);
    return { from: index / BINS, to: (index + 1) / BINS, count, predicted: share(sum), observed: share(right) };
  });
}

/**
 * Expected calibration error: the mean distance of predicted and observed over all boxes (M. P. Naeini, G. F. Cooper
 * and M. Hauskrecht, AAAI 2015).
 */
export function calibrationErrorOf(bins: readonly ReliabilityBin[]): number {
  const all = bins.reduce((sum, { count }) => sum + count, 0);
  const distance = bins.reduce(
    (sum, { count, predicted, observed }) => sum + count * Math.abs(predicted - observed),
    0,
  );
  return all === 0 ? 0 : distance / all;
}

export interface AtThreshold {
  threshold: number;
  /** Share of the objects that are found. */
  recall: number;
  /** Share of the shown boxes that are right; 1 where none is shown. */
  precision: number;
  shown: number;
}

/** What a caller sees who asks for this score and more. */
export function atThreshold(boxes: readonly EvaluatedBox[], objects: number, threshold: number): AtThreshold {
  const shown = boxes.filter(({ score }) => score >= threshold);
  const right = shown.filter(({ isRight }) => isRight).length;
  return {
    threshold,
    recall: objects === 0 ? 0 : right / objects,
    precision: shown.length === 0 ? 1 : right / shown.length,
    shown: shown.length,
  };
}
