import type { OutputDecoding } from '@vision/contracts/scenes';
import { matrixOf, ModelOutputError, outputOf } from './candidate.ts';
import type { Candidate, DecodeOptions, OutputTensor } from './candidate.ts';

type YoloDecoding = Extract<OutputDecoding, { kind: 'yolo' }>;

/** Boxes of models that put `cx, cy, width, height, (objectness,) class scores` into one tensor, in input pixels. */
export function decodeYolo(
  outputs: Readonly<Record<string, OutputTensor>>,
  decoding: YoloDecoding,
  { minScore, wanted }: DecodeOptions,
): Candidate[] {
  const output = outputOf(outputs, decoding.output);
  const { rows, columns } = matrixOf(output, decoding.output);
  const last = decoding.layout === 'candidates_last';
  const [count, values] = last ? [columns, rows] : [rows, columns];
  const firstClass = decoding.objectness ? 5 : 4;
  if (values <= firstClass + Math.max(-1, ...wanted)) {
    throw new ModelOutputError(`output ${decoding.output} has ${values} values per candidate, too few for its classes`);
  }
  const at = (candidate: number, value: number): number =>
    output.data[last ? value * count + candidate : candidate * values + value] ?? 0;
  const candidates: Candidate[] = [];
  for (let index = 0; index < count; index += 1) {
    const certainty = decoding.objectness ? at(index, 4) : 1;
    if (certainty < minScore) continue;
    for (const classIndex of wanted) {
      const score = certainty * at(index, firstClass + classIndex);
      if (score < minScore) continue;
      const [centreX, centreY] = [at(index, 0), at(index, 1)];
      const [halfWidth, halfHeight] = [at(index, 2) / 2, at(index, 3) / 2];
      candidates.push({
        classIndex,
        score,
        left: centreX - halfWidth,
        top: centreY - halfHeight,
        right: centreX + halfWidth,
        bottom: centreY + halfHeight,
      });
    }
  }
  return candidates;
}
