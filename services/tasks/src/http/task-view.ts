import { z } from 'zod';
import { taskPath, uuidForm } from '@vision/shared/contracts/ids';
import { taskStatus } from '@vision/shared/contracts/task-events';
import type { TaskStatus } from '@vision/shared/contracts/task-events';
import type { ErrorCode } from '@vision/shared/errors';
import type { Reply } from '@vision/shared/http/route';
import type { Task } from '../domain/task.ts';
import type { Created } from '../use-cases/create-stream-task.ts';

/** A task as callers see it (spec 2.1). */
export const taskView = z.object({
  task_id: z.uuid(),
  request_id: z.string().describe('Idempotency-Key of the creating request, as it was sent'),
  scene_code: z.string(),
  status: taskStatus,
  result_expires_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const historyEntry = taskView.extend({ kind: z.enum(['video', 'image']) });

export type TaskView = z.infer<typeof taskView>;

export function toView(task: Task): TaskView {
  return {
    task_id: task.taskId,
    request_id: task.requestId,
    scene_code: task.sceneCode,
    status: task.status as TaskStatus,
    result_expires_at: task.resultExpiresAt.toISOString(),
    created_at: task.createdAt.toISOString(),
    updated_at: task.updatedAt.toISOString(),
  };
}

/** 201 for a new task, 202 while nobody knows whether the backend has it, 200 for a replay. */
export function createdReply({ task, replayed }: Created): Reply {
  if (replayed) return { status: 200, body: toView(task), headers: { 'Idempotency-Replayed': 'true' } };
  return { status: task.status === 'resolving' ? 202 : 201, body: toView(task) };
}

export const createResponses = {
  200: {
    description: 'Idempotent replay: the task as it is now',
    schema: taskView,
    headers: { 'Idempotency-Replayed': 'true' },
  },
  201: { description: 'Created', schema: taskView },
  202: {
    description: 'The backend may have it (`resolving`): poll the task, do not resend with a new key',
    schema: taskView,
  },
};

export const idempotencyHeaders = z.object({
  'Idempotency-Key': uuidForm.describe('UUID of your own, one per request'),
});

/** An id that is no UUID is simply unknown: 404. */
export const taskParams = taskPath;

/** What both creates may answer instead. */
export const createErrors: ErrorCode[] = [
  'OP-AUTH-REQUIRED',
  'OP-TASK-REQUEST-INVALID',
  'OP-TASK-SCENE-UNAVAILABLE',
  'OP-QUOTA-DAILY-EXHAUSTED',
  'OP-QUOTA-RATE-LIMITED',
  'OP-TASK-UPSTREAM-DOWN',
  'OP-TASK-BREAKER-OPEN',
  'OP-SYS-UNAVAILABLE',
];
