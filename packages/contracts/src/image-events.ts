import { z } from 'zod';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

/** A finished image call in full: the task record the task history shows and what quota settles by. */
export const imageCallSnapshot = z.object({
  task_id: z.uuid(),
  version: z.int().min(1),
  subject: z.string(),
  request_id: z.string(),
  scene_code: z.string(),
  client_ref: z.string().optional().describe("The caller's own name for a camera or an order"),
  status: z.enum(['succeeded', 'refunded']).describe('refunded: the call was rolled back, nothing is shown or charged'),
  reservation_id: z.string(),
  images_total: z.int().min(1),
  images_succeeded: z.int().min(0),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  result_expires_at: z.iso.datetime(),
});

export const imageCallFinished = defineEvent({
  type: 'vision.image-call.finished.v1',
  topic: topics.images,
  schema: imageCallSnapshot,
  doc: {
    sentBy: 'images',
    receivedBy: ['quota', 'tasks'],
    summary: 'An image call has finished, or was rolled back: quota settles it, tasks shows it in the history',
    example: {
      task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11',
      version: 1,
      subject: 'acme',
      request_id: '8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31',
      scene_code: 'fire_smoke',
      status: 'succeeded',
      reservation_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11/1',
      images_total: 2,
      images_succeeded: 1,
      created_at: '2026-03-15T08:30:00.000Z',
      updated_at: '2026-03-15T08:30:01.250Z',
      result_expires_at: '2026-06-13T08:30:00.000Z',
    },
  },
});

export type ImageCallSnapshot = z.infer<typeof imageCallSnapshot>;
