import type { ImageSize } from '@vision/shared/contracts/detection';
import type { TensorInput } from '@vision/shared/contracts/scenes';

/** Where a picture lies inside the input of a model, in input pixels. */
export interface Placement extends ImageSize {
  left: number;
  top: number;
}

/** Stretched pictures fill the input; letterboxed ones keep their aspect ratio in the middle of it. */
export function placeImage(original: ImageSize, input: TensorInput): Placement {
  if (input.resize === 'stretch') return { width: input.width, height: input.height, left: 0, top: 0 };
  const scale = Math.min(input.width / original.width, input.height / original.height);
  const width = clampSide(original.width * scale, input.width);
  const height = clampSide(original.height * scale, input.height);
  return {
    width,
    height,
    left: Math.floor((input.width - width) / 2),
    top: Math.floor((input.height - height) / 2),
  };
}

const clampSide = (side: number, limit: number) => Math.min(limit, Math.max(1, Math.round(side)));
