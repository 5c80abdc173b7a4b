import { z } from 'zod';

const unit = z.number().min(0).max(1);

/** Box by centre and size, each relative to the image side it lies on (spec 2.4). */
export const boundingBox = z
  .object({
    format: z.literal('cxcywh_normalized'),
    cx: unit.describe('Centre, as a share of the width of the picture'),
    cy: unit.describe('Centre, as a share of the height of the picture'),
    width: unit.describe('As a share of the width of the picture'),
    height: unit.describe('As a share of the height of the picture'),
  })
  .meta({ id: 'BoundingBox', description: 'A box by its centre and size, so that it fits a picture of any size' });

/** One detection in a picture (spec 2.3 without a track). */
export const detectedObject = z
  .object({
    label: z.string().describe('A word of the scene'),
    score: unit.describe('Confidence: where the detector is calibrated, the probability that the box is right'),
    bbox: boundingBox,
  })
  .meta({ id: 'DetectedObject', description: 'One object in a picture' });

/** One detection in a video frame: always carries its track. */
export const trackedObject = detectedObject
  .extend({ track_id: z.string().describe('The same in all frames in which it is the same object') })
  .meta({ id: 'TrackedObject', description: 'One object in a video frame' });

/** Frame or picture size in pixels, after orientation. */
export const imageSize = z
  .object({ width: z.int().min(1), height: z.int().min(1) })
  .meta({ id: 'ImageSize', description: 'Size in pixels, after orientation' });

export type BoundingBox = z.infer<typeof boundingBox>;
export type DetectedObject = z.infer<typeof detectedObject>;
export type TrackedObject = z.infer<typeof trackedObject>;
export type ImageSize = z.infer<typeof imageSize>;
