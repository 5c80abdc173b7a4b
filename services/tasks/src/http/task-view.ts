import { processorTimeHeader } from '@vision/contracts/inference';
import { z } from 'zod';
import { taskPath } from '@vision/contracts/ids';
import { clientRef } from '@vision/contracts/create-query';
import { exampleTask, taskView } from '@vision/contracts/task-view';
import type { TaskView } from '@vision/contracts/task-view';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { idempotencyKeyRefusals } from '@vision/creation/idempotency-key';
import type { Reply, RouteDefinition } from '@vision/shared/http/route';
import type { VisibleTask } from '../domain/task.ts';
import type { Created } from '../use-cases/create/create-draft.ts';

export const historyEntry = taskView
  .extend({
    kind: z.enum(['video', 'image']),
    client_ref: clientRef.optional().describe('`client_ref` of the create request; absent without one'),
  })
  .meta({ id: 'TaskHistoryEntry', description: 'Video task or image call' });

export function toView(task: VisibleTask): TaskView {
  return {
    task_id: task.taskId,
    request_id: task.requestId,
    scene_code: task.sceneCode,
    status: task.status,
    result_expires_at: task.resultExpiresAt.toISOString(),
    created_at: task.createdAt.toISOString(),
    updated_at: task.updatedAt.toISOString(),
  };
}

/** The form in a list, with fields beyond the tasks of spec 2.1. */
export const toHistoryEntry = (task: VisibleTask): z.infer<typeof historyEntry> => ({
  ...toView(task),
  kind: task.kind === 'image' ? 'image' : 'video',
  client_ref: task.clientRef ?? undefined,
});

/** 201 for a new task, 202 while it is unknown whether the backend has the job, 200 for a replay. */
export function createdReply({ task, replayed, processorMs = 0 }: Created): Reply {
  const outcome = { task_status: task.status, replayed };
  if (replayed) return { status: 200, body: toView(task), headers: { 'Idempotency-Replayed': 'true' }, outcome };
  const headers = { [processorTimeHeader]: String(processorMs) };
  return { status: task.status === 'resolving' ? 202 : 201, body: toView(task), headers, outcome };
}

export const createResponses = {
  200: {
    description: 'Idempotent replay: current state of the original task',
    schema: taskView,
    example: exampleTask('running'),
    headers: ['Idempotency-Replayed'],
  },
  201: {
    description: 'Task created. `status` is `refunded` if the inference backend rejected it; the unit was returned.',
    schema: taskView,
    example: exampleTask('running'),
  },
  202: {
    description: 'Outcome of the submission unknown (`resolving`): poll the task; do not resend with a new key.',
    schema: taskView,
    example: exampleTask('resolving'),
  },
} satisfies RouteDefinition['responses'];

/** An id that is not a UUID is an unknown id: 404. */
export const taskParams = taskPath;

/** Common error answers of both create requests. */
export const createRefusals = (): AppError[] => [
  ...idempotencyKeyRefusals(),
  fail.keyReused(),
  fail.notFound('The task of this Idempotency-Key was deleted.', 'task_not_found'),
  fail.sceneUnavailable('helmet'),
  fail.dailyExhausted({ limit: 5, used: 5, requested: 1, resets_at: '2026-03-16T00:00:00+08:00' }),
  fail.rateLimited('active_tasks', 10, { limit: 10, active: 10 }),
  fail.upstreamDown('inference_unreachable'),
  fail.breakerOpen(5),
  fail.maintenance(),
  fail.sysUnavailable('first_request_still_running'),
];

/** Common error answers of all queries for one task. */
export const taskRefusals = (): AppError[] => [fail.notFound('There is no such task.', 'task_not_found')];
