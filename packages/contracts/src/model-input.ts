import { z } from 'zod';
import type { ImageSize } from './detection.ts';

const side = z.int().min(1).max(4096);
const channels = z.tuple([z.number(), z.number(), z.number()]);
const shape = z.tuple([side, side]);
const MOST_SHAPES = 8;
/** Convolutional detectors halve the image five times; other sides would leave cells that cover no whole stride. */
const SIDE_STEP = 32;

const described = z.strictObject({
  name: z.string().min(1),
  width: side.optional().describe('With height: the one shape of a model whose input is fixed'),
  height: side.optional(),
  shapes: z
    .array(shape)
    .min(1)
    .max(MOST_SHAPES)
    .optional()
    .describe(
      'Instead of width and height: widths and heights that a model with a free input is run with. Of these an image gets the one whose aspect is nearest to its own. Sides are multiples of 32',
    ),
  resize: z.enum(['stretch', 'letterbox']).describe('letterbox keeps the aspect ratio and pads both sides evenly'),
  padding_value: z.int().min(0).max(255).default(114).describe('Grey level around a letterboxed picture'),
  colour_order: z.enum(['rgb', 'bgr']),
  layout: z.enum(['nchw', 'nhwc']),
  data_type: z.enum(['float32', 'uint8']).default('float32').describe('uint8 takes the pixels as they are'),
  mean: channels.default([0, 0, 0]),
  std: channels.default([1, 1, 1]),
});

/**
 * Conversion of an RGB image to the input tensor: `(value - mean) / std` per channel, values 0..255, channels in
 * `colour_order`. The parsed value always has `shapes`.
 */
export const modelInput = described.transform(({ width, height, shapes, ...input }, context) => {
  const isFixed = width !== undefined && height !== undefined;
  const problem = isFixed === (shapes !== undefined) ? 'has either width and height, or shapes' : problemOf(shapes);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  return { ...input, shapes: shapes ?? [[width ?? 1, height ?? 1] satisfies Shape] };
});

/** Width and height of the input of a model, in pixels. */
export type Shape = z.infer<typeof shape>;

/** The input of a model as the registry describes it. */
export type ModelInput = z.infer<typeof modelInput>;

/** The input of a model in the shape used for one image. */
export type TensorInput = Omit<ModelInput, 'shapes'> & ImageSize;

function problemOf(shapes: readonly Shape[] = []): string | undefined {
  if (shapes.some((sides) => sides.some((one) => one % SIDE_STEP !== 0))) return 'sides of shapes are multiples of 32';
  const aspects = new Set(shapes.map(([width, height]) => width / height));
  return aspects.size === shapes.length ? undefined : 'two shapes have the same aspect';
}
