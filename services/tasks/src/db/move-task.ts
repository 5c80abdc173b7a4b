import type { Knex } from 'knex';
import { taskChanged } from '@vision/shared/contracts/task-events';
import type { TaskSnapshot, TaskStatus } from '@vision/shared/contracts/task-events';
import { appendEvent } from '@vision/shared/messaging/outbox';
import { after, isEnded, isPublic } from '../domain/task.ts';
import type { Move, Task } from '../domain/task.ts';
import { nowOf, TASKS, toTask } from './task-row.ts';
import type { Clock, TaskRow } from './task-row.ts';

/** Somebody else moved the task first, or its state does not allow the move. */
export class TaskMovedError extends Error {
  override readonly name = 'TaskMovedError';
}

export interface MoveChange {
  /** Further columns that change with the move. */
  patch?: Partial<Record<keyof TaskRow, unknown>> | undefined;
  actor?: 'service' | 'caller' | 'operator' | undefined;
  note?: string | undefined;
}

/**
 * Moves a task by compare-and-set on state, version and attempt, notes the move, and tells it to the other services: row
 * first, then event, in the transaction of the caller.
 * @throws TaskMovedError when the task is not what the caller believes; nothing was changed.
 */
export async function moveTask(
  tx: Knex.Transaction,
  { task, move, clock }: { task: Task; move: Move; clock: Clock },
  { patch = {}, actor = 'service', note }: MoveChange = {},
): Promise<Task> {
  const to = after(move, task.status);
  if (to === undefined) throw new TaskMovedError(`${move} is not possible from ${task.status}`);
  const now = nowOf(tx, clock);
  const rows = await tx(TASKS)
    .where({ task_id: task.taskId, status: task.status, version: task.version, attempt: task.attempt })
    .update({
      ...patch,
      status: to,
      version: task.version + 1,
      updated_at: now,
      ...(isEnded(to) ? { ended_at: now, check_at: patch.check_at ?? null } : {}),
    })
    .returning<TaskRow[]>('*');
  const [row] = rows;
  if (!row) throw new TaskMovedError(`${move} of ${task.taskId} lost`);
  const moved = toTask(row);
  await tx('task_moves').insert({
    task_id: task.taskId,
    version: moved.version,
    attempt: moved.attempt,
    from_status: task.status,
    to_status: to,
    move,
    actor,
    note: note ?? null,
  });
  if (isPublic(to)) await tellChange(tx, moved);
  return moved;
}

/** Publishes the task as it is; it must be in a public state. */
async function tellChange(tx: Knex.Transaction, task: Task): Promise<void> {
  await appendEvent(tx, { ...taskChanged, key: task.taskId, source: 'tasks', data: toSnapshot(task) });
}

/**
 * Publishes, as a last word, that a task of which the others have heard was not created after all: it is refunded, callers
 * never see it, and its key is free.
 */
export async function tellUndone(tx: Knex.Transaction, task: Task): Promise<void> {
  const data = { ...toSnapshot({ ...task, status: 'refunded' }), keeps_key: false };
  await appendEvent(tx, { ...taskChanged, key: task.taskId, source: 'tasks', data });
}

/** What other services hear of a task: never where its stream comes from. */
function toSnapshot(task: Task): TaskSnapshot {
  return {
    task_id: task.taskId,
    version: task.version,
    subject: task.subject,
    kind: task.kind === 'upload' ? 'upload' : 'stream',
    request_id: task.requestId,
    scene_code: task.sceneCode,
    status: task.status as TaskStatus,
    lower_bound: task.lowerBound,
    default_min_score: task.defaultMinScore,
    attempt: task.attempt,
    reservation_id: task.reservationId,
    keeps_key: true,
    created_at: task.createdAt.toISOString(),
    updated_at: task.updatedAt.toISOString(),
    ...(task.endedAt === null ? {} : { ended_at: task.endedAt.toISOString() }),
    result_expires_at: task.resultExpiresAt.toISOString(),
  };
}
