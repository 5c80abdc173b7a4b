import { z } from 'zod';
import { taskPath } from './ids.ts';
import { defineQuestion } from './question.ts';

/** Something that happened to a task, for people. */
export const happening = z
  .object({
    at: z.iso.datetime(),
    what: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Happening' });

/** What one service knows of a task or an image call: how it stands now, and what happened to it, oldest first. */
export const taskHistory = z
  .object({
    facts: z.record(z.string(), z.unknown()),
    happenings: z.array(happening),
  })
  .meta({ id: 'TaskHistoryPart' });

/** Asked of every service that may know the id, for any owner. */
export const getTaskHistory = defineQuestion({
  method: 'get',
  path: '/internal/v1/tasks/{task_id}/history',
  params: taskPath,
  reply: taskHistory,
  refusals: ['not_found'],
});

export type Happening = z.infer<typeof happening>;
export type TaskHistory = z.infer<typeof taskHistory>;
