import { z } from 'zod';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

/** States of spec section 3; image calls use `succeeded` only. */
export const taskStatus = z.enum([
  'submitting',
  'resolving',
  'running',
  'stopping',
  'stopped',
  'succeeded',
  'failed',
  'refunded',
]);

/**
 * A task in full, at one version. Versions grow by one with every change, so the newest snapshot wins whatever order they
 * arrive in. Never holds the stream address.
 */
const taskSnapshot = z.object({
  task_id: z.uuid(),
  version: z.int().min(1),
  subject: z.string(),
  kind: z.enum(['stream', 'upload']),
  request_id: z.string(),
  scene_code: z.string(),
  status: taskStatus,
  lower_bound: z.number().describe('Lower bound inference wrote with, frozen at creation'),
  default_min_score: z.number().describe('Business threshold, frozen at creation'),
  attempt: z.int().min(1),
  reservation_id: z.string().describe('<task_id>/<attempt>'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  ended_at: z.iso.datetime().optional(),
  result_expires_at: z.iso.datetime(),
});

/** The task is in this state now. Quota gives a unit back on `refunded`, results learns owner and thresholds. */
export const taskChanged = defineEvent({ type: 'vision.task.changed.v1', topic: topics.tasks, schema: taskSnapshot });

const resultsCompleted = z.object({
  task_id: z.uuid(),
  attempt: z.int().min(0),
  status: z.enum(['stopped', 'succeeded', 'failed']),
  frames_stored: z.int().min(0),
  error: z.string().optional(),
});

/** Every frame of the task before its end mark can be read. */
export const taskResultsCompleted = defineEvent({
  type: 'vision.results.completed.v1',
  topic: topics.results,
  schema: resultsCompleted,
});

export type TaskStatus = z.infer<typeof taskStatus>;
export type TaskSnapshot = z.infer<typeof taskSnapshot>;
export type ResultsCompleted = z.infer<typeof resultsCompleted>;
