import { z } from 'zod';
import { taskPath } from './ids.ts';
import { defineQuestion } from './question.ts';

const storedFrames = z.object({
  frames_stored: z.int().min(0),
  completed_attempt: z
    .int()
    .min(0)
    .optional()
    .describe('The attempt whose end-of-stream marker is in effect: all its frames are readable'),
});

/** What can be read of a task: 0 frames for a task that results has not heard of. */
export const countStoredFrames = defineQuestion({
  method: 'get',
  path: '/internal/v1/tasks/{task_id}/stored-frames',
  params: taskPath,
  reply: storedFrames.meta({ id: 'StoredFrames' }),
});

/** The same of up to 100 tasks in one question; tasks that results has not heard of are left out. */
export const countFramesOfTasks = defineQuestion({
  method: 'post',
  path: '/internal/v1/stored-frames',
  body: z.object({ task_ids: z.array(z.uuid()).min(1).max(100) }),
  reply: z.object({ items: z.array(storedFrames.extend({ task_id: z.uuid() })) }).meta({ id: 'StoredFramesOfTasks' }),
});

/**
 * Remove everything of tasks that their owners have deleted, and refuse what still arrives of them. The reply names
 * those of which nothing is left; the others have to be sent again.
 */
export const deleteResults = defineQuestion({
  method: 'post',
  path: '/internal/v1/deleted-tasks',
  body: z.object({ task_ids: z.array(z.uuid()).min(1).max(100) }),
  reply: z.object({ task_ids: z.array(z.uuid()) }).meta({ id: 'DeletedResults' }),
});
