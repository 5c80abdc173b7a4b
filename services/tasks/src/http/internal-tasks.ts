import { getInternalTask, listInternalTasks, stopInternalTask, verifyInternalTask } from '@vision/contracts/tasks';
import type { InternalTask } from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { framesToExpect } from '../domain/task.ts';
import type { VisibleTask } from '../domain/task.ts';
import { agesOf } from '../use-cases/operate/ages-of.ts';
import type { AgedTask } from '../use-cases/operate/ages-of.ts';
import type { Deps } from '../use-cases/deps.ts';
import { getTask } from '../use-cases/follow/get-task.ts';
import { listTasksOfAll } from '../use-cases/operate/list-tasks-of-all.ts';
import { stopTaskAsOperator } from '../use-cases/follow/stop-task.ts';
import { verifyTask } from '../use-cases/operate/verify-task.ts';
import { taskRefusals } from './task-view.ts';

export const getInternalTaskRoute = (deps: Pick<Deps, 'db' | 'images'>) =>
  route(
    {
      ...getInternalTask,
      operation: 'getInternalTask',
      summary: 'Returns owner, kind and thresholds of a task, for other services',
      description:
        'Tasks and image calls of the subject of the token. Ids of other subjects are answered as unknown ids.',
      audience: 'internal',
      responses: { 200: { description: 'The task', schema: getInternalTask.reply } },
    },
    async ({ params, caller }) => {
      const task = await getTask(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 200, body: (await toInternal(deps, [task]))[0] };
    },
  );

export const listInternalTasksRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...listInternalTasks,
      operation: 'listInternalTasks',
      summary: 'Lists tasks and image calls of all subjects, for operators',
      audience: 'internal',
      responses: { 200: { description: 'One page', schema: listInternalTasks.reply } },
    },
    async ({ query: { status, older_than_s: olderThanS, younger_than_s: youngerThanS, ...page } }) => {
      const statuses = status && [status];
      const { tasks, nextCursor } = await listTasksOfAll(deps, { ...page, statuses, olderThanS, youngerThanS });
      return { status: 200, body: { items: await toInternal(deps, tasks), next_cursor: nextCursor } };
    },
  );

export const stopInternalTaskRoute = (deps: Deps) =>
  route(
    {
      ...stopInternalTask,
      operation: 'stopInternalTask',
      summary: 'Stops a task on behalf of an operator',
      audience: 'internal',
      responses: { 200: { description: 'The task', schema: stopInternalTask.reply } },
      refusalExamples: () => [...taskRefusals(), fail.notStoppable('succeeded')],
    },
    async ({ params, body }) => {
      const task = await stopTaskAsOperator(deps, { taskId: params.task_id, who: body.who });
      return { status: 200, body: (await toInternal(deps, [task]))[0] };
    },
  );

export const verifyTaskRoute = (deps: Deps) =>
  route(
    {
      ...verifyInternalTask,
      operation: 'verifyInternalTask',
      summary: 'Records the outcome of an unknown submission, as an operator determined it',
      audience: 'internal',
      responses: { 200: { description: 'The task', schema: verifyInternalTask.reply } },
      refusalExamples: () => [
        ...taskRefusals(),
        fail.verificationContradicts('running'),
        fail.verificationDisproved({ job_status: 'running', frames_published: 118, seen_before: false }),
        fail.taskNotResolving('running'),
        fail.upstreamDown('inference_unreachable'),
      ],
    },
    async ({ params, body }) => {
      const task = await verifyTask(deps, { taskId: params.task_id, ...body });
      return { status: 200, body: (await toInternal(deps, [task]))[0] };
    },
  );

async function toInternal(deps: Pick<Deps, 'db'>, tasks: VisibleTask[]): Promise<InternalTask[]> {
  return (await agesOf(deps, tasks)).map(internalView);
}

function internalView({ task, ageS }: AgedTask): InternalTask {
  return {
    ...factsOf(task),
    task_id: task.taskId,
    subject: task.subject,
    kind: task.kind,
    request_id: task.requestId,
    scene_code: task.sceneCode,
    status: task.status,
    version: task.version,
    reservation_id: task.reservationId,
    age_s: ageS,
    created_at: task.createdAt.toISOString(),
    updated_at: task.updatedAt.toISOString(),
    result_expires_at: task.resultExpiresAt.toISOString(),
  };
}

type VideoFacts = Pick<
  InternalTask,
  | 'attempt'
  | 'lower_bound'
  | 'default_min_score'
  | 'source'
  | 'reason'
  | 'job_seen'
  | 'ended_at'
  | 'frames_published'
  | 'snapshots'
>;

function factsOf(task: VisibleTask): VideoFacts {
  // The last change of an image call is its end; it has no job, and its thresholds are internal to images.
  if (task.kind === 'image') {
    return {
      attempt: 1,
      lower_bound: 0,
      default_min_score: 0,
      job_seen: false,
      ended_at: task.updatedAt.toISOString(),
    };
  }
  return {
    attempt: task.attempt,
    lower_bound: task.lowerBound,
    default_min_score: task.defaultMinScore,
    source: task.sourceLabel ?? undefined,
    reason: task.reason ?? undefined,
    job_seen: task.job.seenAt !== null,
    ended_at: task.endedAt?.toISOString(),
    frames_published: framesToExpect(task),
    snapshots: task.snapshots,
  };
}
