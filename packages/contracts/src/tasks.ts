import { z } from 'zod';
import { snapshotMode } from './create-query.ts';
import { taskPath, uuidForm } from './ids.ts';
import { job } from './inference.ts';
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
    snapshots: snapshotMode.optional().describe('As in its events'),
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

/** Some thirty years: beyond it an instant could not be calculated. */
const seconds = z.coerce.number().int().min(1).max(1_000_000_000);

/** Which tasks an operator wants to see. */
export const taskFilter = z.object({
  status: taskStatus.optional(),
  subject: z.string().max(128).optional(),
  kind: z.enum(['stream', 'upload', 'image']).optional(),
  older_than_s: seconds.optional().describe('Minimum time since creation, in seconds'),
  younger_than_s: seconds.optional().describe('Maximum time since creation, in seconds'),
  order: z.enum(['oldest', 'newest']).default('oldest').describe('Order of the list'),
  after: uuidForm.optional().describe('next_cursor of the page before'),
  limit: z.coerce.number<string>().int().min(1).max(1000).default(1000),
});

/** Tasks and image calls of all subjects, by the time of their creation. */
export const listInternalTasks = defineQuestion({
  method: 'get',
  path: '/internal/v1/tasks',
  query: taskFilter,
  reply: z
    .object({
      items: z.array(internalTask),
      next_cursor: z.string().default('').describe('Empty on the last page'),
    })
    .meta({ id: 'TaskRecordList' }),
});

/** Stops a task of any subject; the task records the requester. */
export const stopInternalTask = defineQuestion({
  method: 'post',
  path: '/internal/v1/tasks/{task_id}/stop',
  params: taskPath,
  body: z.object({ who: z.string().max(200) }),
  reply: internalTask,
  refusals: ['not_found', 'conflict'],
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

/** Finds which of these ids are tasks of any subject. Asked about jobs whose frames arrive. */
export const findKnownTasks = defineQuestion({
  method: 'post',
  path: '/internal/v1/known-tasks',
  body: z.object({ task_ids: z.array(z.uuid()).max(200) }),
  reply: z.object({ task_ids: z.array(z.uuid()) }).meta({ id: 'KnownTasks' }),
});

const backendJob = z
  .object({
    task_id: z.uuid(),
    subject: z.string(),
    status: taskStatus,
    age_s: z.int().describe('Seconds since the creation of the task'),
    job: job.optional().describe('State of the job at the backend now; left out if the backend does not have the job'),
  })
  .meta({ id: 'BackendJob', description: 'A task that has not ended, beside its job at the inference backend' });

const jobOfBackend = z
  .object({
    job,
    task: z
      .object({ subject: z.string(), status: taskStatus, age_s: z.int() })
      .optional()
      .describe(
        'Left out when tasks has no such task: the job runs until an operator stops it, and is charged to no subject',
      ),
  })
  .meta({ id: 'JobOfBackend', description: 'A job that has not ended at the inference backend, beside its task' });

const jobPage = z.object({
  after: z.string().max(200).optional().describe('next_cursor of the page before'),
  limit: z.coerce.number<string>().int().min(1).max(100).default(100),
});

/** Jobs that have not ended at the backend, each beside its task: also those whose task is not known. */
export const listJobsOfBackend = defineQuestion({
  method: 'get',
  path: '/internal/v1/backend-jobs',
  query: jobPage,
  reply: z
    .object({ items: z.array(jobOfBackend), next_cursor: z.string().describe('Empty on the last page') })
    .meta({ id: 'JobOfBackendList' }),
  refusals: ['not_found'],
});

/** Stop a job at the backend whose task is not known or has ended. */
export const stopJobOfBackend = defineQuestion({
  method: 'post',
  path: '/internal/v1/backend-jobs/{job_id}/stop',
  params: z.object({ job_id: z.string().min(1).max(200) }),
  body: z.object({ who: z.string().max(200) }),
  reply: job,
  refusals: ['conflict'],
});

/** Jobs that an operator wants to see; the backend lists 100 at a time. */
export const jobFilter = z.object({
  subject: z.string().max(128).optional(),
  after: uuidForm.optional().describe('next_cursor of the page before'),
  limit: z.coerce.number<string>().int().min(1).max(100).default(100),
});

/** Tasks that have not ended, each beside what the backend says of its job now. */
export const listBackendJobs = defineQuestion({
  method: 'get',
  path: '/internal/v1/jobs',
  query: jobFilter,
  reply: z
    .object({ items: z.array(backendJob), next_cursor: z.string().describe('Empty on the last page') })
    .meta({ id: 'BackendJobList' }),
});

export type JobsOfBackend = z.infer<typeof listJobsOfBackend.reply>;
export type TaskFilter = z.infer<typeof taskFilter>;
export type BackendJob = z.infer<typeof backendJob>;
export type InternalTask = z.infer<typeof internalTask>;
