import type { ImageSize } from '@vision/contracts/detection';
import type { ModelInput, Shape, TensorInput } from '@vision/contracts/model-input';
import { scaledInto } from './placement.ts';

/** Input sizes of a detector; a video decoder receives them before it knows the size of the frames. */
export type FrameFit =
  | { kind: 'shapes'; shapes: readonly Shape[]; resize: TensorInput['resize'] }
  /** Scaled down when its longest side is longer than `side`, otherwise unchanged. */
  | { kind: 'longest_side'; side: number };

/** The size to which an image of this size is scaled. */
export function fitTo(original: ImageSize, fit: FrameFit): ImageSize {
  if (fit.kind === 'shapes') return scaledInto(original, shapeFor(original, fit.shapes), fit.resize);
  const scale = Math.min(1, fit.side / Math.max(original.width, original.height));
  return {
    width: Math.max(1, Math.round(original.width * scale)),
    height: Math.max(1, Math.round(original.height * scale)),
  };
}

/**
 * The shape whose aspect is nearest to that of the image, by their ratio, so that the image is distorted least. However
 * extreme its aspect is, the image gets one of these shapes.
 */
export function shapeFor({ width, height }: ImageSize, shapes: readonly Shape[]): ImageSize {
  const ranges = aspectRanges(shapes);
  const { shape } = ranges.find(({ below }) => width / height < below) ?? ranges[ranges.length - 1] ?? NO_SHAPE;
  return { width: shape[0], height: shape[1] };
}

/** Shapes from the tallest to the widest; each covers the aspects from the previous shape's `below` to its own. */
export function aspectRanges(shapes: readonly Shape[]): { shape: Shape; below: number }[] {
  const sorted = shapes.toSorted((a, b) => aspectOf(a) - aspectOf(b));
  return sorted.map((shape, index) => {
    const next = sorted[index + 1];
    return { shape, below: next ? Math.sqrt(aspectOf(shape) * aspectOf(next)) : Infinity };
  });
}

/** The input of a model in the shape for this image. */
export function inputFor(
  original: ImageSize,
  { shapes, ...input }: Omit<ModelInput, 'shapes'> & { shapes: readonly Shape[] },
): TensorInput {
  return { ...input, ...shapeFor(original, shapes) };
}

/** The same fit with no side above `longest`: the detector scales up again to a larger input. */
export function boundedFit(fit: FrameFit, longest: number): FrameFit {
  if (fit.kind === 'longest_side') return { ...fit, side: Math.min(fit.side, longest) };
  const shapes = fit.shapes.map(([width, height]): Shape => {
    const size = fitTo({ width, height }, { kind: 'longest_side', side: longest });
    return [size.width, size.height];
  });
  return { ...fit, shapes };
}

const aspectOf = ([width, height]: Shape) => width / height;
// The registry refuses a list without shapes.
const NO_SHAPE: { shape: Shape } = { shape: [1, 1] };
