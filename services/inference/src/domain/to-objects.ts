import type { BoundingBox, DetectedObject } from '@vision/contracts/detection';
import type { Candidate } from './candidate.ts';
import type { Placement } from './placement.ts';

/** Decimals of coordinates: finer than a pixel on the longest side that the service accepts. */
const BOX_DECIMALS = 5;
const SCORE_DECIMALS = 4;

/** Boxes of the model's input as objects of the image; boxes are clipped to the image, and empty ones dropped. */
export function toObjects(
  candidates: readonly Candidate[],
  placement: Placement,
  classes: readonly string[],
): DetectedObject[] {
  return candidates.flatMap((candidate) => {
    const bbox = toBoundingBox({
      left: (candidate.left - placement.left) / placement.width,
      top: (candidate.top - placement.top) / placement.height,
      right: (candidate.right - placement.left) / placement.width,
      bottom: (candidate.bottom - placement.top) / placement.height,
    });
    const label = classes[candidate.classIndex];
    return bbox === undefined || label === undefined ? [] : [{ label, score: toScore(candidate.score), bbox }];
  });
}

/**
 * The contract's box for corners relative to the image; undefined when it lies outside. Corners are rounded and the
 * centre has as many decimals as it needs, so that a box never reaches beyond the image that it was clipped to.
 */
export function toBoundingBox(corners: {
  left: number;
  top: number;
  right: number;
  bottom: number;
}): BoundingBox | undefined {
  const [left, right] = [edge(corners.left), edge(corners.right)];
  const [top, bottom] = [edge(corners.top), edge(corners.bottom)];
  const width = round(right - left, BOX_DECIMALS);
  const height = round(bottom - top, BOX_DECIMALS);
  if (!(width > 0 && height > 0)) return undefined;
  return {
    format: 'cxcywh_normalized',
    cx: round((left + right) / 2, BOX_DECIMALS + 1),
    cy: round((top + bottom) / 2, BOX_DECIMALS + 1),
    width,
    height,
  };
}

/**
 * The smallest score that is returned as `score` or more: scores are compared with bounds after rounding.
 */
export const leastShownAs = (score: number): number => score - 0.5 * 10 ** -SCORE_DECIMALS;

/** A score in 0..1 with its significant digits. */
export const toScore = (score: number): number => round(unit(score), SCORE_DECIMALS);

const unit = (value: number) => Math.min(1, Math.max(0, value));
const edge = (value: number) => round(unit(value), BOX_DECIMALS);
const round = (value: number, decimals: number) => Math.round(value * 10 ** decimals) / 10 ** decimals;
