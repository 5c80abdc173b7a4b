import { z } from 'zod';
import { taskPath } from './ids.ts';
import { defineQuestion } from './question.ts';
import { taskStatus } from './task-events.ts';

/** A task as other services and operators see it; image calls are shown in the same form. */
export const internalTask = z.object({
  task_id: z.uuid(),
  subject: z.string(),
  kind: z.enum(['stream', 'upload', 'image']),
  request_id: z.string(),
  scene_code: z.string(),
  status: taskStatus,
  version: z.int(),
  attempt: z.int(),
  lower_bound: z.number(),
  default_min_score: z.number(),
  reservation_id: z.string(),
  source: z.string().optional().describe('Scheme and host of a stream'),
  reason: z.string().optional().describe('Why it failed, was refused or is unknown'),
  job_seen: z.boolean().describe('The backend has shown the job at least once'),
  age_s: z.int().describe('Seconds since its creation'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  ended_at: z.iso.datetime().optional(),
  result_expires_at: z.iso.datetime(),
});

/** Whose is this id? Tasks and image calls of the subject of the token; a foreign id is unknown. */
export const getInternalTask = defineQuestion({
  method: 'get',
  path: '/internal/v1/tasks/{task_id}',
  params: taskPath,
  reply: internalTask,
  refusals: ['not_found'],
});

/** Tasks that wait for a verification, oldest first. */
export const listResolvingTasks = defineQuestion({
  method: 'get',
  path: '/internal/v1/tasks',
  query: z.object({ status: z.literal('resolving') }),
  reply: z.object({ items: z.array(internalTask) }),
});

/** What an operator found out about a task whose submission has an unknown outcome. */
export const verifyInternalTask = defineQuestion({
  method: 'post',
  path: '/internal/v1/tasks/{task_id}/verification',
  params: taskPath,
  body: z.object({
    outcome: z.enum(['created', 'not_created']),
    note: z.string().max(1000).default(''),
    who: z.string().max(200).default('operator'),
  }),
  reply: internalTask,
  refusals: ['not_found', 'conflict'],
});

export type InternalTask = z.infer<typeof internalTask>;
