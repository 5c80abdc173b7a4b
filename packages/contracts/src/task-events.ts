import { z } from 'zod';
import { snapshotMode } from './create-query.ts';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

/** States of spec section 3; image calls use `succeeded` only. One more state is a new version of the task's event. */
export const taskStatus = z
  .enum(['submitting', 'resolving', 'running', 'stopping', 'stopped', 'succeeded', 'failed', 'refunded'])
  .meta({
    id: 'TaskStatus',
    description:
      '`submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission ' +
      'is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. ' +
      '`stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.',
  });

/**
 * A task in full, at one version. Versions grow by one with every change, so the newest snapshot wins in any order
 * of arrival. Never holds the stream address.
 */
const taskSnapshot = z.object({
  task_id: z.uuid(),
  version: z.int().min(1),
  subject: z.string(),
  kind: z.enum(['stream', 'upload']),
  request_id: z.string(),
  scene_code: z.string(),
  client_ref: z.string().optional().describe("The caller's own name for a camera or an order"),
  status: taskStatus,
  lower_bound: z.number().describe('Lower bound inference wrote with, frozen at creation'),
  default_min_score: z.number().describe('Business threshold, frozen at creation'),
  attempt: z.int().min(1),
  reservation_id: z.string().describe('<task_id>/<attempt>'),
  keeps_key: z
    .boolean()
    .optional()
    .describe('false: the create request was rolled back; no task is to be seen and the Idempotency-Key names nothing'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  ended_at: z.iso.datetime().optional(),
  frames_published: z
    .int()
    .min(0)
    .optional()
    .describe('Of a task that has ended: frames that the backend published; 0 when it never said that the job ended'),
  result_expires_at: z.iso.datetime(),
  reason: z.string().max(200).optional().describe('Why the task failed or was refunded'),
  snapshots: snapshotMode.optional().describe('Whether images of its tracks are stored, frozen at creation'),
});

/** The current state of the task. Quota refunds the unit on `refunded`; results reads owner and thresholds. */
export const taskChanged = defineEvent({
  type: 'vision.task.changed.v1',
  topic: topics.tasks,
  schema: taskSnapshot,
  doc: {
    sentBy: 'tasks',
    receivedBy: ['notify', 'quota', 'results'],
    summary: 'A task has a new state: quota refunds by it, results learns owner and thresholds, notify logs it',
    example: {
      task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
      version: 3,
      subject: 'acme',
      kind: 'stream',
      request_id: '8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31',
      scene_code: 'person_vehicle',
      status: 'running',
      lower_bound: 0.3,
      default_min_score: 0.8,
      attempt: 1,
      reservation_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/1',
      keeps_key: true,
      created_at: '2026-03-15T08:30:00.000Z',
      updated_at: '2026-03-15T08:30:01.250Z',
      result_expires_at: '2026-06-13T08:30:00.000Z',
    },
  },
});

const taskDeletion = z.object({ task_id: z.uuid(), subject: z.string(), deleted_at: z.iso.datetime() });

/** The owner deleted an ended task or an image call. Later `vision.task.changed.v1` events are ignored. */
export const taskDeleted = defineEvent({
  type: 'vision.task.deleted.v1',
  topic: topics.tasks,
  schema: taskDeletion,
  doc: {
    sentBy: 'tasks',
    receivedBy: ['notify'],
    summary: 'The owner deleted an ended task or an image call: notify removes its events and logs no more of them',
    example: {
      task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
      subject: 'acme',
      deleted_at: '2026-03-16T09:00:00.000Z',
    },
  },
});

const resultsCompleted = z.object({
  task_id: z.uuid(),
  attempt: z.int().min(0),
  status: z.enum(['stopped', 'succeeded', 'failed']),
  frames_stored: z.int().min(0),
  error: z.string().optional(),
});

/** Every frame of the task before its end-of-stream marker can be read. */
export const taskResultsCompleted = defineEvent({
  type: 'vision.results.completed.v1',
  topic: topics.results,
  schema: resultsCompleted,
  doc: {
    sentBy: 'results',
    receivedBy: ['tasks'],
    summary: 'The end of a task and every frame before it can be read: the task may say so',
    example: {
      task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
      attempt: 1,
      status: 'succeeded',
      frames_stored: 1250,
    },
  },
});

export type TaskStatus = z.infer<typeof taskStatus>;
export type TaskSnapshot = z.infer<typeof taskSnapshot>;
export type TaskDeletion = z.infer<typeof taskDeletion>;
export type ResultsCompleted = z.infer<typeof resultsCompleted>;
