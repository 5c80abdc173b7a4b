import { endedReason } from '@vision/contracts/ended-reason';
import type { TaskSnapshot, TaskStatus } from '@vision/contracts/task-events';
import { eventIdOf } from './event.ts';
import type { EventType, NewEvent } from './event.ts';

/** States without an event need no action of callers. */
const types: Partial<Record<TaskStatus, EventType>> = {
  running: 'task.running',
  resolving: 'task.resolving',
  succeeded: 'task.succeeded',
  stopped: 'task.stopped',
  failed: 'task.failed',
  refunded: 'task.refunded',
};

/**
 * The event of a task in a new state; undefined when its state has no event, or the task was rolled back and never
 * visible.
 */
export function taskEvent(task: TaskSnapshot): NewEvent | undefined {
  const type = types[task.status];
  if (type === undefined || task.keeps_key === false) return undefined;
  const occurredAt = new Date(task.updated_at);
  const { task_id: taskId, subject } = task;
  const eventId = eventIdOf(occurredAt, `task ${taskId} ${task.version}`);
  const factAt = occurredAt.getTime();
  return { eventId, subject, type, taskId, occurredAt, factAt, data: JSON.stringify(dataOf(task)) };
}

function dataOf(task: TaskSnapshot): object {
  const hasReason = task.status === 'failed' || task.status === 'refunded';
  return {
    task: {
      task_id: task.task_id,
      request_id: task.request_id,
      scene_code: task.scene_code,
      status: task.status,
      result_expires_at: task.result_expires_at,
      created_at: task.created_at,
      updated_at: task.updated_at,
    },
    ...(task.client_ref === undefined ? {} : { client_ref: task.client_ref }),
    ...(hasReason ? { reason: endedReason(task.reason) } : {}),
  };
}
