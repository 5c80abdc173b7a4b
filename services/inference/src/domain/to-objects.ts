import type { BoundingBox, DetectedObject } from '@vision/shared/contracts/detection';
import type { Candidate } from './candidate.ts';
import type { Placement } from './placement.ts';

/** Decimals of coordinates: finer than a pixel on any picture the service accepts on one side. */
const BOX_DECIMALS = 5;
const SCORE_DECIMALS = 4;

/** Boxes of the model's input as objects of the picture; what lies outside the picture is cut off, empty boxes drop out. */
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

/** The contract's box for corners relative to the picture; undefined when nothing of it lies inside. */
export function toBoundingBox(corners: {
  left: number;
  top: number;
  right: number;
  bottom: number;
}): BoundingBox | undefined {
  const [left, right] = [unit(corners.left), unit(corners.right)];
  const [top, bottom] = [unit(corners.top), unit(corners.bottom)];
  const width = round(right - left, BOX_DECIMALS);
  const height = round(bottom - top, BOX_DECIMALS);
  if (!(width > 0 && height > 0)) return undefined;
  return {
    format: 'cxcywh_normalized',
    cx: round((left + right) / 2, BOX_DECIMALS),
    cy: round((top + bottom) / 2, BOX_DECIMALS),
    width,
    height,
  };
}

/** A score inside 0..1 with as many digits as mean something. */
export const toScore = (score: number): number => round(unit(score), SCORE_DECIMALS);

const unit = (value: number) => Math.min(1, Math.max(0, value));
const round = (value: number, decimals: number) => Math.round(value * 10 ** decimals) / 10 ** decimals;
