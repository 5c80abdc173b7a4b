import { z } from 'zod';
import { taskPath } from './ids.ts';
import { defineQuestion } from './question.ts';
import { taskStatus } from './task-events.ts';

/** A task as other services and operators see it; image calls are shown in the same form. */
export const internalTask = z
  .object({
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
    frames_published: z.int().min(0).optional().describe('As in the event of its end'),
    result_expires_at: z.iso.datetime(),
  })
  .meta({ id: 'TaskRecord', description: 'A task as services and operators see it' });

export const exampleTaskRecord: z.infer<typeof internalTask> = {
  task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
  subject: 'acme',
  kind: 'stream',
  request_id: '8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31',
  scene_code: 'person_vehicle',
  status: 'resolving',
  version: 2,
  attempt: 1,
  lower_bound: 0.3,
  default_min_score: 0.8,
  reservation_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/1',
  source: 'rtsp://camera.example.org',
  reason: 'timeout',
  job_seen: false,
  age_s: 95,
  created_at: '2026-03-15T08:30:00.000Z',
  updated_at: '2026-03-15T08:30:10.000Z',
  result_expires_at: '2026-06-13T08:30:00.000Z',
};

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
  reply: z.object({ items: z.array(internalTask) }).meta({ id: 'TaskRecordList' }),
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

/** Which of these ids are tasks, whoever owns them? Asked about jobs whose frames arrive. */
export const findKnownTasks = defineQuestion({
  method: 'post',
  path: '/internal/v1/known-tasks',
  body: z.object({ task_ids: z.array(z.uuid()).max(200) }),
  reply: z.object({ task_ids: z.array(z.uuid()) }).meta({ id: 'KnownTasks' }),
});

export type InternalTask = z.infer<typeof internalTask>;
