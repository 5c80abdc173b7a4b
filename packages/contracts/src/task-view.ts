import { z } from 'zod';
import { taskStatus } from './task-events.ts';
import type { TaskStatus } from './task-events.ts';

/** A task as callers see it: the response to create, get and stop, and an entry of the list and of events. */
export const taskView = z
  .object({
    task_id: z.uuid(),
    request_id: z.string().describe('Idempotency-Key of the create request, as it was sent'),
    scene_code: z.string(),
    status: taskStatus,
    result_expires_at: z.iso.datetime().describe('Time at which the results are deleted'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Task', description: 'Video task' });

export type TaskView = z.infer<typeof taskView>;

/** A task for the documents, in one of its states. */
export const exampleTask = (status: TaskStatus): TaskView => ({
  task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
  request_id: '8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31',
  scene_code: 'person_vehicle',
  status,
  result_expires_at: '2026-06-13T08:30:00.000Z',
  created_at: '2026-03-15T08:30:00.000Z',
  updated_at: '2026-03-15T08:30:01.250Z',
});
