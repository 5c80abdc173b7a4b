import { z } from 'zod';
import { MAX_LABELS, TRACK_ID } from '../domain/result-query.ts';

const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
const frameTime = z.int().min(least).max(most).meta({ format: 'int64' });

/** The query parameters that select frames and objects, as documents show them. `domain/result-query.ts` decides. */
export const selectionDoc = {
  min_score: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      'Score threshold, 0 to 1. Values below the lowest stored score have the effect of that score. ' +
        "When omitted, the task's threshold applies",
    ),
  labels: z
    .string()
    .optional()
    .describe(
      `Labels of the objects to return, separated by commas, at most ${MAX_LABELS}. ` +
        'A label that the task does not detect matches no object',
    ),
  from_ms: frameTime.optional().describe('Earliest `frame_time_ms`, inclusive; negative for uploads only'),
  to_ms: frameTime.optional().describe('Latest `frame_time_ms`, exclusive; later than `from_ms`'),
  region: z
    .string()
    .optional()
    .describe(
      'Polygon on the image as `x1,y1,x2,y2,…`: 3 to 16 corners, each coordinate 0 to 1. Its edges do not cross or ' +
        'touch each other. Objects whose anchor lies outside are omitted',
    ),
  anchor: z
    .enum(['bottom_center', 'center'])
    .optional()
    .describe('Point of the box that decides whether an object lies in `region`. Default: `bottom_center`'),
  track_id: z.string().regex(TRACK_ID).optional().describe('Track whose objects are returned'),
  skip_empty: z.boolean().default(false).describe('Whether frames without a returned object are omitted'),
};
