import { z } from 'zod';

const unit = z.number().min(0).max(1);

/** Box by centre and size, each relative to the image side it lies on (spec 2.4). */
export const boundingBox = z.object({
  format: z.literal('cxcywh_normalized'),
  cx: unit,
  cy: unit,
  width: unit,
  height: unit,
});

/** One detection in a picture (spec 2.3 without a track). */
export const detectedObject = z.object({ label: z.string(), score: unit, bbox: boundingBox });

/** One detection in a video frame: always carries its track. */
export const trackedObject = detectedObject.extend({ track_id: z.string() });

/** Frame or picture size in pixels, after orientation. */
export const imageSize = z.object({ width: z.int().min(1), height: z.int().min(1) });

export type BoundingBox = z.infer<typeof boundingBox>;
export type DetectedObject = z.infer<typeof detectedObject>;
export type TrackedObject = z.infer<typeof trackedObject>;
export type ImageSize = z.infer<typeof imageSize>;
