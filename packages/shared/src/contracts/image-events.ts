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
  status: z.enum(['succeeded', 'refunded']).describe('refunded: the call was undone, nothing is shown or charged'),
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
});

export type ImageCallSnapshot = z.infer<typeof imageCallSnapshot>;
