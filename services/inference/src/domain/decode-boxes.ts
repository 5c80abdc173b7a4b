import type { ImageSize } from '@vision/contracts/detection';
import type { OutputDecoding } from '@vision/contracts/scenes';
import { matrixOf, ModelOutputError, outputOf } from './candidate.ts';
import type { Candidate, DecodeOptions, OutputTensor } from './candidate.ts';

type BoxesDecoding = Extract<OutputDecoding, { kind: 'boxes' }>;
type Corners = Omit<Candidate, 'classIndex' | 'score'>;

/** Boxes of models with separate tensors for boxes and scores (DETR family, SSD, EfficientDet). */
export function decodeBoxes(
  outputs: Readonly<Record<string, OutputTensor>>,
  decoding: BoxesDecoding,
  input: ImageSize,
  options: DecodeOptions,
): Candidate[] {
  const boxes = outputOf(outputs, decoding.boxes);
  const { rows: count, columns } = matrixOf(boxes, decoding.boxes);
  if (columns !== 4) throw new ModelOutputError(`output ${decoding.boxes} has ${columns} numbers per box, expected 4`);
  const scale = decoding.normalized ? input : { width: 1, height: 1 };
  const scored =
    decoding.labels === undefined ? perClass(outputs, decoding, options) : labelled(outputs, decoding, options);
  return scored
    .filter(({ row }) => row < count)
    .map(({ row, classIndex, score }) => {
      const numbers = [0, 1, 2, 3].map((offset) => boxes.data[row * 4 + offset] ?? 0) as [
        number,
        number,
        number,
        number,
      ];
      return { classIndex, score, ...scaled(cornersOf(numbers, decoding.format), scale) };
    });
}

interface Scored {
  row: number;
  classIndex: number;
  score: number;
}

function perClass(
  outputs: Readonly<Record<string, OutputTensor>>,
  decoding: BoxesDecoding,
  { minScore, wanted }: DecodeOptions,
): Scored[] {
  const scores = outputOf(outputs, decoding.scores);
  const { rows, columns } = matrixOf(scores, decoding.scores);
  const found: Scored[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (const classIndex of wanted) {
      const score = scores.data[row * columns + classIndex] ?? 0;
      if (score >= minScore) found.push({ row, classIndex, score });
    }
  }
  return found;
}

function labelled(
  outputs: Readonly<Record<string, OutputTensor>>,
  decoding: BoxesDecoding,
  { minScore, wanted }: DecodeOptions,
): Scored[] {
  const scores = outputOf(outputs, decoding.scores).data;
  const labels = outputOf(outputs, decoding.labels ?? '').data;
  return Array.from({ length: scores.length }, (_, row) => ({
    row,
    classIndex: labels[row] ?? -1,
    score: scores[row] ?? 0,
  })).filter(({ classIndex, score }) => score >= minScore && wanted.includes(classIndex));
}

function cornersOf([a, b, c, d]: [number, number, number, number], format: BoxesDecoding['format']): Corners {
  switch (format) {
    case 'xyxy':
      return { left: a, top: b, right: c, bottom: d };
    case 'yxyx':
      return { left: b, top: a, right: d, bottom: c };
    case 'cxcywh':
      return { left: a - c / 2, top: b - d / 2, right: a + c / 2, bottom: b + d / 2 };
  }
}

const scaled = ({ left, top, right, bottom }: Corners, { width, height }: ImageSize): Corners => ({
  left: left * width,
  top: top * height,
  right: right * width,
  bottom: bottom * height,
});
