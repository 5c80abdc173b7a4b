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
