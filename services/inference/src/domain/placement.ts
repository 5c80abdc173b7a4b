import type { ImageSize } from '@vision/contracts/detection';
import type { TensorInput } from '@vision/contracts/model-input';

/** Position and size of an image inside the input of a model, in input pixels. */
export interface Placement extends ImageSize {
  left: number;
  top: number;
}

/** A stretched image fills the input; a letterboxed one keeps its aspect ratio and is centred in it. */
export function placeImage(original: ImageSize, input: TensorInput): Placement {
  const { width, height } = scaledInto(original, input, input.resize);
  return {
    width,
    height,
    left: Math.floor((input.width - width) / 2),
    top: Math.floor((input.height - height) / 2),
  };
}

/** The size of an image in an input of this shape. */
export function scaledInto(original: ImageSize, shape: ImageSize, resize: TensorInput['resize']): ImageSize {
  if (resize === 'stretch') return { width: shape.width, height: shape.height };
  const scale = Math.min(shape.width / original.width, shape.height / original.height);
  return {
    width: clampSide(original.width * scale, shape.width),
    height: clampSide(original.height * scale, shape.height),
  };
}

const clampSide = (side: number, limit: number) => Math.min(limit, Math.max(1, Math.round(side)));
