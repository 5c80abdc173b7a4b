import type { Knex } from 'knex';
import { taskChanged } from '@vision/contracts/task-events';
import type { TaskSnapshot } from '@vision/contracts/task-events';
import { appendEvent } from '@vision/kafka/outbox';
import { after } from '../domain/moves.ts';
import type { Change, StatusAfter } from '../domain/moves.ts';
import { framesToExpect, isEnded, isPublic } from '../domain/task.ts';
import type { PublicTask, Task, TaskIn } from '../domain/task.ts';
import { inFuture } from './instants.ts';
import { TASKS, toTask } from './task-row.ts';
import type { TaskRow } from './task-row.ts';

/** Another process moved the task first, or its state does not allow the move. */
export class TaskMovedError extends Error {
  override readonly name = 'TaskMovedError';
}

/** Ignores that another process moved the task first; rethrows any other error. */
export function passOverMoved(error: unknown): void {
  if (!(error instanceof TaskMovedError)) throw error;
}

/**
 * Moves a task by compare-and-set on state, version and attempt, records the move, and publishes it: row first, then
 * event, in the transaction of the caller. No other code changes the state of a task.
 * @throws TaskMovedError when the task has changed since it was read; no row was changed.
 */
export async function moveTask<C extends Change>(
  tx: Knex.Transaction,
  task: Task,
  change: C,
): Promise<TaskIn<StatusAfter<C['move']>>> {
  const to = after<C['move']>(change.move, task.status);
  if (to === undefined) throw new TaskMovedError(`${change.move} is not possible from ${task.status}`);
  const now = tx.raw('vision_now()');
  const ending = isEnded(to) ? { ended_at: now, check_at: null } : {};
  const [row] = await tx(TASKS)
    .where({ task_id: task.taskId, status: task.status, version: task.version, attempt: task.attempt })
    .update({
      status: to,
      version: task.version + 1,
      updated_at: now,
      ...ending,
      ...columnsOf(tx, task, change),
    })
    .returning<TaskRow[]>('*');
  if (!row) throw new TaskMovedError(`${change.move} of ${task.taskId} lost`);
  const moved = { ...toTask(row), status: to };
  await tx('task_moves').insert({
    task_id: task.taskId,
    version: moved.version,
    attempt: moved.attempt,
    from_status: task.status,
    to_status: to,
    move: change.move,
    ...actorOf(change),
  });
  if (isPublic(moved)) await tellChange(tx, moved);
  return moved;
}

/** Columns that a move changes besides the state. */
function columnsOf(tx: Knex.Transaction, task: Task, change: Change): Partial<Record<keyof TaskRow, unknown>> {
  const now = tx.fn.now();
  switch (change.move) {
    case 'admit': {
      const { sceneCode, lowerBound, defaultMinScore, snapshots } = change.scene;
      const thresholds = { lower_bound: lowerBound, default_min_score: defaultMinScore };
      return { admitted_at: now, scene_code: sceneCode, ...thresholds, snapshots };
    }
    case 'give_up':
    case 'take_back':
      return { lease_until: inFuture(tx, change.recoverAfterMs), check_at: null };
    case 'take_over':
      return { lease_until: inFuture(tx, change.recoverAfterMs), attempt: task.attempt + 1 };
    case 'submit':
      return { check_at: inFuture(tx, change.askAfterMs) };
    case 'accept':
      return {
        check_at: now,
        job_status: change.job.status,
        job_seen_at: now,
        job_frames_published: change.job.frames_published,
      };
    case 'find':
      return { check_at: now };
    case 'lose_track':
      return { check_at: now, reason: change.reason };
    case 'verify_created':
      return { check_at: now, reason: 'verified_created', job_seen_at: now };
    // Queried for a while, in case its job appears after all.
    case 'verify_not_created':
      return { check_at: now, reason: 'verified_not_created' };
    case 'stop':
      return change.by === 'service' ? { check_at: now } : { check_at: now, stop_requested_at: now };
    case 'refuse':
    case 'end_failed':
    case 'vanish':
      return { reason: change.reason };
    case 'end_stopped':
    case 'end_succeeded':
      return {};
  }
}

function actorOf(change: Change): { actor: 'service' | 'caller' | 'operator'; note: string | null } {
  if (change.move === 'verify_created' || change.move === 'verify_not_created') {
    return { actor: 'operator', note: `${change.who}: ${change.note}` };
  }
  if (change.move !== 'stop') return { actor: 'service', note: null };
  return typeof change.by === 'string'
    ? { actor: change.by, note: null }
    : { actor: 'operator', note: change.by.operator };
}

/** Publishes the current state of the task. */
async function tellChange(tx: Knex.Transaction, task: PublicTask): Promise<void> {
  await appendEvent(tx, { ...taskChanged, key: task.taskId, source: 'tasks', data: toSnapshot(task) });
}

/**
 * Publishes the last event of a published task that was not created after all: it is refunded, callers never see it,
 * and its key is free.
 */
export async function publishRolledBack(tx: Knex.Transaction, task: TaskIn<'undoing'>): Promise<void> {
  const data = { ...toSnapshot({ ...task, status: 'refunded' }), keeps_key: false };
  await appendEvent(tx, { ...taskChanged, key: task.taskId, source: 'tasks', data });
}

/** The public form of a task for other services, without the address of its stream. */
function toSnapshot(task: PublicTask): TaskSnapshot {
  return {
    task_id: task.taskId,
    version: task.version,
    subject: task.subject,
    kind: task.kind,
    request_id: task.requestId,
    scene_code: task.sceneCode,
    client_ref: task.clientRef ?? undefined,
    status: task.status,
    lower_bound: task.lowerBound,
    default_min_score: task.defaultMinScore,
    attempt: task.attempt,
    reservation_id: task.reservationId,
    keeps_key: true,
    created_at: task.createdAt.toISOString(),
    updated_at: task.updatedAt.toISOString(),
    ended_at: task.endedAt?.toISOString(),
    frames_published: framesToExpect(task),
    result_expires_at: task.resultExpiresAt.toISOString(),
    reason: task.status === 'failed' || task.status === 'refunded' ? task.reason?.slice(0, 200) : undefined,
    snapshots: task.snapshots,
  };
}
