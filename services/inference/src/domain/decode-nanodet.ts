import type { ImageSize } from '@vision/contracts/detection';
import type { OutputDecoding } from '@vision/contracts/scenes';
import { matrixOf, ModelOutputError, outputOf } from './candidate.ts';
import type { Candidate, DecodeOptions, OutputTensor } from './candidate.ts';

type NanodetDecoding = Extract<OutputDecoding, { kind: 'nanodet' }>;

/**
 * Boxes of NanoDet: every cell of every stride has class scores and, for each side of its box, a distribution over
 * `bins` distances from the middle of the cell; the distance is the expectation of the softmax times the stride
 * (Generalized Focal Loss, Li et al. 2020).
 */
export function decodeNanodet(
  outputs: Readonly<Record<string, OutputTensor>>,
  decoding: NanodetDecoding,
  input: ImageSize,
  { minScore, wanted }: DecodeOptions,
): Candidate[] {
  const scores = outputOf(outputs, decoding.scores);
  const distances = outputOf(outputs, decoding.distances);
  const { rows: cells, columns: classes } = matrixOf(scores, decoding.scores);
  const grids = gridsOf(decoding.strides, input);
  const expected = grids.reduce((sum, grid) => sum + grid.columns * grid.rows, 0);
  const { rows, columns } = matrixOf(distances, decoding.distances);
  if (cells !== expected || rows !== expected || columns !== 4 * decoding.bins) {
    throw new ModelOutputError(`expected ${expected} cells with 4 x ${decoding.bins} distances`);
  }
  const candidates: Candidate[] = [];
  let cell = 0;
  for (const grid of grids) {
    for (let index = 0; index < grid.columns * grid.rows; index += 1, cell += 1) {
      for (const classIndex of wanted) {
        const score = scores.data[cell * classes + classIndex] ?? 0;
        if (score < minScore) continue;
        candidates.push({
          classIndex,
          score,
          ...boxOfCell(distances.data, cell, index, { ...grid, bins: decoding.bins }),
        });
      }
    }
  }
  return candidates;
}

interface Grid {
  stride: number;
  columns: number;
  rows: number;
}

function gridsOf(strides: readonly number[], { width, height }: ImageSize): Grid[] {
  return strides.map((stride) => ({ stride, columns: Math.ceil(width / stride), rows: Math.ceil(height / stride) }));
}

function boxOfCell(
  distances: ArrayLike<number>,
  cell: number,
  index: number,
  { stride, columns, bins }: Grid & { bins: number },
): Omit<Candidate, 'classIndex' | 'score'> {
  const centreX = ((index % columns) + 0.5) * stride;
  const centreY = (Math.floor(index / columns) + 0.5) * stride;
  const side = (number: number) => expectation(distances, (cell * 4 + number) * bins, bins) * stride;
  return { left: centreX - side(0), top: centreY - side(1), right: centreX + side(2), bottom: centreY + side(3) };
}

/** Expected bin of a softmax over `bins` logits. */
function expectation(logits: ArrayLike<number>, start: number, bins: number): number {
  let highest = -Infinity;
  for (let bin = 0; bin < bins; bin += 1) highest = Math.max(highest, logits[start + bin] ?? 0);
  let total = 0;
  let weighted = 0;
  for (let bin = 0; bin < bins; bin += 1) {
    const weight = Math.exp((logits[start + bin] ?? 0) - highest);
    total += weight;
    weighted += weight * bin;
  }
  return weighted / total;
}
