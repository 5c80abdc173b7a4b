import { z } from 'zod';
import { taskStatus } from '@vision/shared/contracts/task-events';
import type { TaskStatus } from '@vision/shared/contracts/task-events';
import { route } from '@vision/shared/http/route';
import { listByStatus } from '../db/tasks.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { getTask } from '../use-cases/get-task.ts';
import { verifyTask } from '../use-cases/verify-task.ts';
import { taskParams } from './task-view.ts';

const internalTask = z.object({
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

/** Most waiting tasks that one answer lists. */
const LIST_LIMIT = 1000;

export const getInternalTaskRoute = (deps: Pick<Deps, 'db' | 'clock' | 'images'>) =>
  route(
    {
      operation: 'getInternalTask',
      method: 'get',
      path: '/internal/v1/tasks/{task_id}',
      summary: 'Owner, kind and thresholds of a task, for other services',
      description:
        'Tasks and image calls of the subject of the token; ids of others and ids that never were take one way.',
      audience: 'internal',
      params: taskParams,
      responses: { 200: { description: 'The task', schema: internalTask } },
    },
    async ({ params, caller }) => {
      const task = await getTask(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 200, body: toInternal(task) };
    },
  );

export const listResolvingTasksRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'listInternalTasks',
      method: 'get',
      path: '/internal/v1/tasks',
      summary: 'Tasks that wait for a verification, oldest first',
      audience: 'internal',
      query: z.strictObject({ status: z.literal('resolving') }),
      responses: { 200: { description: 'The tasks', schema: z.object({ items: z.array(internalTask) }) } },
    },
    async ({ query }) => ({
      status: 200,
      body: { items: (await listByStatus(deps.db, query.status, LIST_LIMIT)).map(toInternal) },
    }),
  );

export const verifyTaskRoute = (deps: Deps) =>
  route(
    {
      operation: 'verifyInternalTask',
      method: 'post',
      path: '/internal/v1/tasks/{task_id}/verification',
      summary: 'Apply what an operator found out about a task whose submission is unknown',
      audience: 'internal',
      params: taskParams,
      body: z.strictObject({
        outcome: z.enum(['created', 'not_created']),
        note: z.string().max(1000).default(''),
        who: z.string().max(200).default('operator'),
      }),
      responses: { 200: { description: 'The task', schema: internalTask } },
      errors: ['OP-TASK-UPSTREAM-DOWN', 'OP-SYS-UNAVAILABLE'],
    },
    async ({ params, body }) => ({
      status: 200,
      body: toInternal(await verifyTask(deps, { taskId: params.task_id, ...body })),
    }),
  );

function toInternal(task: Task): z.input<typeof internalTask> {
  return {
    task_id: task.taskId,
    subject: task.subject,
    kind: task.kind,
    request_id: task.requestId,
    scene_code: task.sceneCode,
    status: task.status as TaskStatus,
    version: task.version,
    attempt: task.attempt,
    lower_bound: task.lowerBound,
    default_min_score: task.defaultMinScore,
    reservation_id: task.reservationId,
    ...(task.sourceLabel === null ? {} : { source: task.sourceLabel }),
    ...(task.reason === null ? {} : { reason: task.reason }),
    job_seen: task.job.seenAt !== null,
    age_s: Math.max(0, Math.round((Date.now() - task.createdAt.getTime()) / 1000)),
    created_at: task.createdAt.toISOString(),
    updated_at: task.updatedAt.toISOString(),
    ...(task.endedAt === null ? {} : { ended_at: task.endedAt.toISOString() }),
    result_expires_at: task.resultExpiresAt.toISOString(),
  };
}
