import type { DetectedObject } from '@vision/contracts/detection';
import type { TensorInput } from '@vision/contracts/model-input';
import type { KserveSpec, OnnxSpec, OutputDecoding } from '@vision/contracts/scenes';
import type { Candidate, DecodeOptions, OutputTensor } from './candidate.ts';
import { decodeBoxes } from './decode-boxes.ts';
import { decodeNanodet } from './decode-nanodet.ts';
import { decodeYolo } from './decode-yolo.ts';
import type { Placement } from './placement.ts';
import { suppressOverlaps } from './suppress-overlaps.ts';
import { leastShownAs, toObjects } from './to-objects.ts';

/** The part of a detector's description that defines the encoding of input images and output boxes. */
export type TensorModel = Pick<OnnxSpec | KserveSpec, 'classes' | 'decode' | 'nms_iou' | 'max_objects'> & {
  /** In the shape that was chosen for the image. */
  input: TensorInput;
};

export interface DecodeRequest {
  placement: Placement;
  minScore: number;
  labels: readonly string[];
}

/** Model outputs to objects of the image, highest score first. @throws ModelOutputError on outputs of another shape. */
export function decodeOutputs(
  outputs: Readonly<Record<string, OutputTensor>>,
  model: TensorModel,
  { placement, minScore, labels }: DecodeRequest,
): DetectedObject[] {
  const wanted = labels.map((label) => model.classes.indexOf(label)).filter((index) => index >= 0);
  const candidates = candidatesOf(outputs, model.decode, model.input, { minScore: leastShownAs(minScore), wanted });
  const finite = candidates.filter((box) => Number.isFinite(box.score + box.left + box.top + box.right + box.bottom));
  const objects = toObjects(suppressOverlaps(finite, model.nms_iou, model.max_objects), placement, model.classes);
  return objects.filter(({ score }) => score >= minScore);
}

function candidatesOf(
  outputs: Readonly<Record<string, OutputTensor>>,
  decoding: OutputDecoding,
  input: TensorInput,
  options: DecodeOptions,
): Candidate[] {
  switch (decoding.kind) {
    case 'nanodet':
      return decodeNanodet(outputs, decoding, input, options);
    case 'yolo':
      return decodeYolo(outputs, decoding, options);
    case 'boxes':
      return decodeBoxes(outputs, decoding, input, options);
  }
}
