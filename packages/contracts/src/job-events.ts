import { z } from 'zod';
import { boundingBox, imageSize } from './detection.ts';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

/** What the source of a job does, as its worker sees it. */
export const sourceState = z.enum([
  'connecting',
  'streaming',
  'stalled',
  'blocked',
  'reconnecting',
  'waiting',
  'processing',
]);

const counter = z.int().min(0);

const sourceChangedData = z.object({
  job_id: z.uuid(),
  attempt: z.int().min(0).describe('Attempt at work; grows when another worker takes over the job'),
  n: z.int().min(1).describe('Number of the snapshot within the attempt; the greatest one holds'),
  at_ms: z.int().min(0).describe('Unix time of the snapshot in milliseconds'),
  since_ms: z.int().min(0).describe('Unix time since which the state holds, in milliseconds'),
  state: sourceState.describe(
    '`streaming`: frames arrive. `stalled`: connected, no frame for 2 s. `blocked`: frames wait for this worker. ' +
      '`reconnecting`: the connection was lost. `waiting`: away for long; a slot is held only while it is connected to. ' +
      '`processing`: frames of an uploaded video are read',
  ),
  // A string, because an older consumer has to read the reasons of a newer backend.
  reason: z
    .string()
    .regex(/^[a-z_]{1,40}$/)
    .optional()
    .describe('Why the last connection ended; a coarse word without anything of the source'),
  codec: z
    .string()
    .regex(/^[a-z0-9_]{1,20}$/)
    .optional(),
  image: imageSize.optional().describe('Size of decoded frames before scaling'),
  sample_fps: z.number().min(0).max(1000).optional().describe('Frame rate at which the source is sampled'),
  measured_fps: z.number().min(0).max(1000).optional().describe('Frames per second since the last snapshot'),
  is_behind: z.boolean().optional().describe('Whether the worker is too slow for the frame rate'),
  dropped: z
    .object({ fresher: counter, no_number: counter, not_held: counter, unsent: counter })
    .optional()
    .describe('Frames of this attempt that were read and not published, by reason'),
  reconnects: counter.optional().describe('Connections of this attempt that were lost'),
  away_since_ms: counter
    .optional()
    .describe('Unix time of the last frame while none arrives, in milliseconds; of the begin before the first one'),
  gives_up_at_ms: counter
    .optional()
    .describe('Unix time at which the job fails if no frame arrives until then, in milliseconds'),
  duration_ms: counter.optional().describe('Uploaded videos: how long the video plays'),
});

/** A snapshot of the source of a job. Publishing is best effort; a later snapshot replaces a lost one. */
export const sourceChanged = defineEvent({
  type: 'vision.source.changed.v1',
  topic: topics.jobs,
  schema: sourceChangedData,
  doc: {
    sentBy: 'inference',
    receivedBy: ['results'],
    summary: 'The source of a job changed its state, or a minute has passed. Optional for a backend',
    example: {
      job_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
      attempt: 1,
      n: 7,
      at_ms: 1_790_000_000_000,
      since_ms: 1_789_999_940_000,
      state: 'streaming',
      codec: 'h264',
      image: { width: 1920, height: 1080 },
      sample_fps: 5,
      measured_fps: 4.9,
      is_behind: false,
      dropped: { fresher: 0, no_number: 0, not_held: 0, unsent: 0 },
      reconnects: 1,
    },
  },
});

export type SourceChangedData = z.infer<typeof sourceChangedData>;

const snapshotTakenData = z.object({
  job_id: z.uuid(),
  attempt: z.int().min(1),
  track_id: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .describe('Track that the image shows'),
  n: z.int().min(1).describe('Number of the image among those of the track; the greatest one holds'),
  seq: z.int().min(0).describe('Number of the frame that the image is cut from'),
  frame_time_ms: z.int().min(0),
  score: z.number().min(0).max(1),
  bbox: boundingBox.describe('Box of the object in the frame'),
  object_key: z.string().max(300).describe('Key of the image in the bucket'),
  width: z.int().min(1),
  height: z.int().min(1),
  bytes: z.int().min(1),
});

/**
 * An image of a track is stored; it replaces the one before. Publishing is best effort: a sweep removes an object whose
 * event is lost.
 */
export const snapshotTaken = defineEvent({
  type: 'vision.snapshot.taken.v1',
  topic: topics.jobs,
  schema: snapshotTakenData,
  doc: {
    sentBy: 'inference',
    receivedBy: ['results'],
    summary: 'A better image of a track is stored. Optional for a backend, and only for jobs with `snapshots`',
    example: {
      job_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
      attempt: 1,
      track_id: 'a1-7',
      n: 1,
      seq: 31,
      frame_time_ms: 1_773_565_206_200,
      score: 0.91,
      bbox: { format: 'cxcywh_normalized', cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
      object_key:
        'track-snapshots/of-5f0e7c1a-9d3b-4f57-8a55-0c6d4c1f2b11/2026-03-15/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/a1-7-1x5f3a9c20.jpg',
      width: 180,
      height: 402,
      bytes: 18_240,
    },
  },
});

export type SnapshotTakenData = z.infer<typeof snapshotTakenData>;
