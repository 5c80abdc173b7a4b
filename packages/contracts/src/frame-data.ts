import { z } from 'zod';
import { imageSize, trackedObject } from './detection.ts';

/** One analysed frame of a job. */
export const frameData = z.object({
  job_id: z.uuid(),
  attempt: z.int().min(0).describe('Grows when another worker takes the job over'),
  seq: z.int().min(0).describe('Grows from 0; a repeat is the same frame; live jobs may skip numbers'),
  frame_time_ms: z.int().describe('PTS offset of files, Unix time of live streams, in milliseconds'),
  is_live: z.boolean().optional().describe('Whether frame_time_ms is the time of capture; left out: unknown'),
  image: imageSize,
  objects: z.array(trackedObject).max(10_000),
});

export type FrameData = z.infer<typeof frameData>;
