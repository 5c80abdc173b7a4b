import type { Candidate } from './candidate.ts';

/** More candidates than this are noise; the best are kept so that the pairwise comparison stays cheap. */
const MAX_CANDIDATES = 1000;

/** Non-maximum suppression within each class: of boxes that overlap by more than `iou` the best stays. Best first. */
export function suppressOverlaps(candidates: readonly Candidate[], iou: number, maxObjects: number): Candidate[] {
  const kept: Candidate[] = [];
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score).slice(0, MAX_CANDIDATES)) {
    if (kept.length >= maxObjects) break;
    const repeated = kept.some((one) => one.classIndex === candidate.classIndex && overlap(one, candidate) > iou);
    if (!repeated) kept.push(candidate);
  }
  return kept;
}

type Box = Pick<Candidate, 'left' | 'top' | 'right' | 'bottom'>;

/** Intersection over union, 0..1. */
export function overlap(a: Box, b: Box): number {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const shared = width * height;
  return shared / (area(a) + area(b) - shared);
}

const area = ({ left, top, right, bottom }: Box) => (right - left) * (bottom - top);
