import type { TaskStatus } from '@vision/shared/contracts/task-events';
import { getInternalTask, listResolvingTasks, verifyInternalTask } from '@vision/shared/contracts/tasks';
import type { InternalTask } from '@vision/shared/contracts/tasks';
import { fail } from '@vision/shared/errors';
import { route } from '@vision/shared/http/route';
import { listByStatus } from '../db/tasks.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { getTask } from '../use-cases/get-task.ts';
import { verifyTask } from '../use-cases/verify-task.ts';
import { taskRefusals } from './task-view.ts';

/** Most waiting tasks that one answer lists. */
const LIST_LIMIT = 1000;

export const getInternalTaskRoute = (deps: Pick<Deps, 'db' | 'clock' | 'images'>) =>
  route(
    {
      ...getInternalTask,
      operation: 'getInternalTask',
      summary: 'Owner, kind and thresholds of a task, for other services',
      description:
        'Tasks and image calls of the subject of the token; ids of others and ids that never were take one way.',
      audience: 'internal',
      responses: { 200: { description: 'The task', schema: getInternalTask.reply } },
    },
    async ({ params, caller }) => {
      const task = await getTask(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 200, body: toInternal(task) };
    },
  );

export const listResolvingTasksRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...listResolvingTasks,
      operation: 'listInternalTasks',
      summary: 'Tasks that wait for a verification, oldest first',
      audience: 'internal',
      responses: { 200: { description: 'The tasks', schema: listResolvingTasks.reply } },
    },
    async ({ query }) => ({
      status: 200,
      body: { items: (await listByStatus(deps.db, query.status, LIST_LIMIT)).map(toInternal) },
    }),
  );

export const verifyTaskRoute = (deps: Deps) =>
  route(
    {
      ...verifyInternalTask,
      operation: 'verifyInternalTask',
      summary: 'Apply what an operator found out about a task whose submission is unknown',
      audience: 'internal',
      responses: { 200: { description: 'The task', schema: verifyInternalTask.reply } },
      refusalExamples: () => [
        ...taskRefusals(),
        fail.verificationContradicts('running'),
        fail.taskNotResolving('running'),
        fail.upstreamDown('inference_unreachable'),
      ],
    },
    async ({ params, body }) => ({
      status: 200,
      body: toInternal(await verifyTask(deps, { taskId: params.task_id, ...body })),
    }),
  );

function toInternal(task: Task): InternalTask {
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
