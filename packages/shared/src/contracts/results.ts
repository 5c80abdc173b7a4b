import { z } from 'zod';
import { taskPath } from './ids.ts';
import { defineQuestion } from './question.ts';

/** How many frames of a task can be read; 0 for a task that results has not heard of. */
export const countStoredFrames = defineQuestion({
  method: 'get',
  path: '/internal/v1/tasks/{task_id}/stored-frames',
  params: taskPath,
  reply: z.object({ frames_stored: z.int().min(0) }).meta({ id: 'StoredFrames' }),
});

/** The same of up to 100 tasks in one question; tasks that results has not heard of are left out. */
export const countFramesOfTasks = defineQuestion({
  method: 'post',
  path: '/internal/v1/stored-frames',
  body: z.object({ task_ids: z.array(z.uuid()).min(1).max(100) }),
  reply: z
    .object({ items: z.array(z.object({ task_id: z.uuid(), frames_stored: z.int().min(0) })) })
    .meta({ id: 'StoredFramesOfTasks' }),
});
