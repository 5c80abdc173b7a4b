import { z } from 'zod';
import { imageSize, trackedObject } from './detection.ts';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

const frameData = z.object({
  job_id: z.uuid(),
  attempt: z.int().min(0).describe('Grows when another worker takes the job over'),
  seq: z.int().min(0).describe('Grows from 0; a repeat is the same frame; live jobs may skip numbers'),
  frame_time_ms: z.int().describe('PTS offset of files, Unix time of live streams, in milliseconds'),
  image: imageSize,
  objects: z.array(trackedObject).max(10_000),
});

const jobEndedData = z.object({
  job_id: z.uuid(),
  attempt: z.int().min(0),
  status: z.enum(['stopped', 'succeeded', 'failed']),
  frames_published: z.int().min(0).describe('For information; the message itself is the mark'),
  error: z.string().optional(),
});

/** One analysed frame. */
export const frameProduced = defineEvent({ type: 'vision.frame.v1', topic: topics.frames, schema: frameData });
/** Last message of a job, sent after its last frame was acknowledged. */
export const jobEnded = defineEvent({ type: 'vision.job.ended.v1', topic: topics.frames, schema: jobEndedData });

export type FrameData = z.infer<typeof frameData>;
export type JobEndedData = z.infer<typeof jobEndedData>;
