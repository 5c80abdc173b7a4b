import { z } from 'zod';
import { defineEvent } from './envelope.ts';
import { frameData } from './frame-data.ts';
import type { FrameData } from './frame-data.ts';
import { decodeFrameSegment, loadOfSegment } from './segments/frame-segment.ts';
import type { FrameSegment } from './segments/frame-segment.ts';
import { topics } from './topics.ts';

/** The frames that one attempt published, by their numbers. */
const attemptFrames = z.object({
  count: z.int().min(0),
  first_seq: z.int().min(0).optional().describe('Left out when there are none'),
  last_seq: z.int().min(0).optional(),
});

const jobEndedData = z.object({
  job_id: z.uuid(),
  attempt: z.int().min(0),
  status: z.enum(['stopped', 'succeeded', 'failed']),
  frames_published: z.int().min(0).describe('By all attempts, for information'),
  attempt_frames: attemptFrames
    .optional()
    .describe('Published by this attempt; the results are complete when these are there. Without it, at once'),
  error: z.string().optional(),
});

const JOB_ID = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const EXAMPLE_FRAME: FrameData = {
  job_id: JOB_ID,
  attempt: 1,
  seq: 0,
  frame_time_ms: 40,
  is_live: false,
  image: { width: 1920, height: 1080 },
  objects: [
    {
      label: 'person',
      score: 0.91,
      bbox: { format: 'cxcywh_normalized', cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
      track_id: '7',
    },
  ],
};

/** One analysed frame. */
export const frameProduced = defineEvent({
  type: 'vision.frame.v1',
  topic: topics.frames,
  schema: frameData,
  doc: {
    sentBy: 'inference',
    receivedBy: ['results'],
    summary: 'One frame of a job was analysed',
    example: EXAMPLE_FRAME,
  },
});

/**
 * Frames in a row of one attempt of a job. A receiver does for it exactly what it does for as many `vision.frame.v1`.
 * Sent only while every receiver has announced that it reads it.
 */
export const segmentProduced = defineEvent({
  type: 'vision.frame.segment.v1',
  topic: topics.frames,
  schema: z.instanceof(Uint8Array).transform((value, context): FrameSegment => {
    try {
      return decodeFrameSegment(value);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : 'it cannot be read');
      return z.NEVER;
    }
  }),
  binary: {
    source: 'inference',
    load: loadOfSegment,
    description:
      'Version, job, attempt, heads and objects of the frames, and a CRC-32 of all of it ' +
      '(`packages/contracts/src/segments/frame-segment.ts`)',
  },
  doc: {
    sentBy: 'inference',
    receivedBy: ['results'],
    summary: 'Frames of a job were analysed',
    example: { job_id: JOB_ID, attempt: 1, frames: [EXAMPLE_FRAME] },
  },
});

/** Last message of a job, sent after its last frame was acknowledged. */
export const jobEnded = defineEvent({
  type: 'vision.job.ended.v1',
  topic: topics.frames,
  schema: jobEndedData,
  doc: {
    sentBy: 'inference',
    receivedBy: ['results'],
    summary: 'A job is over and every frame of it was sent before',
    example: {
      job_id: JOB_ID,
      attempt: 1,
      status: 'succeeded',
      frames_published: 1250,
      attempt_frames: { count: 1250, first_seq: 0, last_seq: 1249 },
    },
  },
});

export type { FrameData } from './frame-data.ts';
export type JobEndedData = z.infer<typeof jobEndedData>;
