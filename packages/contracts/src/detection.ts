import { z } from 'zod';

const unit = z.number().min(0).max(1);

/** Box by centre and size, each relative to the image side it lies on (spec 2.4). */
export const boundingBox = z
  .object({
    format: z.literal('cxcywh_normalized'),
    cx: unit.describe('Horizontal centre of the box, 0 to 1 of the image width'),
    cy: unit.describe('Vertical centre of the box, 0 to 1 of the image height'),
    width: unit.describe('Width of the box, 0 to 1 of the image width'),
    height: unit.describe('Height of the box, 0 to 1 of the image height'),
  })
  .meta({ id: 'BoundingBox', description: 'Box as centre and size, relative to the image size' });

/** One detection in an image (spec 2.3 without a track). */
export const detectedObject = z
  .object({
    label: z.string().describe('Label of the object, one of the labels of the scene'),
    score: unit.describe('Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct'),
    bbox: boundingBox,
  })
  .meta({ id: 'DetectedObject', description: 'Object detected in an image' });

/** One detection in a video frame: always carries its track. */
export const trackedObject = detectedObject
  .extend({ track_id: z.string().describe('Identifier of the object across the frames of the task') })
  .meta({ id: 'TrackedObject', description: 'Object detected in a video frame' });

/** Frame or image size in pixels, after orientation. */
export const imageSize = z
  .object({ width: z.int().min(1), height: z.int().min(1) })
  .meta({ id: 'ImageSize', description: 'Size in pixels, after the orientation of the video is applied' });

export type BoundingBox = z.infer<typeof boundingBox>;
export type DetectedObject = z.infer<typeof detectedObject>;
export type TrackedObject = z.infer<typeof trackedObject>;
export type ImageSize = z.infer<typeof imageSize>;
