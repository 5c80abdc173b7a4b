import { atMost } from '@vision/shared/async/at-most';
import { inTransaction } from '@vision/shared/db/transaction';
import { crashPoint } from '@vision/shared/crash-point';
import { throughOutage } from '@vision/creation/through-outage';
import { claimDeadDrafts, listUndoing } from '../../db/dead-drafts.ts';
import { freeKey, removeRolledBack } from '../../db/idempotency-keys.ts';
import { moveTask, TaskMovedError, publishRolledBack } from '../../db/move-task.ts';
import { findVideoTask } from '../../db/tasks.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps, RollbackDeps, SubmitDeps } from '../deps.ts';

/*
 * Rollback of a create request, by how the request ended:
 *
 * | the request ended                                | rolled back by                               | its key |
 * | ------------------------------------------------ | -------------------------------------------- | ------- |
 * | refused before `submitting` was stored           | rollBackCreate                               | free    |
 * | the process died before `submitting` was stored  | recoverCreates                               | free    |
 * | the backend surely did not get the job           | rollBackSubmission, which publishes it       | free    |
 * | the process died during the rollback             | recoverCreates                               | free    |
 * | the subject needs the units of its dead requests | refundDeadCreates, then recoverCreates       |         |
 * | the backend refused it: the task is `refunded`   | releaseRefunded                              | taken   |
 * | the process died after `submitting` was stored   | not rolled back: the reconciler resolves it  | taken   |
 *
 * The row is written first: in `undoing` it never becomes a task again. It is removed last, so that a crash in between
 * leaves a row that the recovery finds. The steps in between may be repeated.
 */

/** Maximum wait of the caller for the database; repetitions continue in the background. */
const WAIT_MS = 4_000;
/** Maximum wait of a refusal for the refund; the recovery completes a longer one. */
const ROLLBACK_WAIT_MS = 2_000;
/** Dead create requests of a subject that are refunded while a caller waits; the recovery handles the others. */
const DEAD_AT_ONCE = 20;

/**
 * Rolls back a refused create request and frees its key at once. Its unit and its object are released here if possible,
 * otherwise by the recovery. Does nothing when another process took the draft over.
 */
export async function rollBackCreate(deps: SubmitDeps, draft: Task): Promise<void> {
  const rollback = throughOutage(() => rollBackRefused(deps, draft)).catch((error: unknown) => {
    if (error instanceof TaskMovedError) return;
    deps.logger.warn(
      { err: error, task_id: draft.taskId },
      'create request not rolled back yet; the recovery continues',
    );
  });
  await atMost(WAIT_MS, rollback);
}

async function rollBackRefused(deps: SubmitDeps, draft: Task): Promise<void> {
  const task = await inTransaction(deps.db, async (tx) => {
    // The draft may have been admitted since; the row lock waits for a transaction of this process in progress.
    const stored = await findVideoTask(tx, draft.taskId, 'for update');
    // A higher attempt means that another process took the draft over.
    if (stored?.attempt !== draft.attempt) throw new TaskMovedError(`${draft.taskId} was taken over`);
    if (stored.status === 'submitting') return stored;
    const undoing = await moveTask(tx, stored, { move: 'give_up', recoverAfterMs: 0 });
    await freeKey(tx, draft.taskId);
    return undoing;
  });
  // The answer to the commit was lost, so the task was never sent.
  if (task.status === 'submitting') return rollBackSubmission(deps, task);
  crashPoint('tasks.rollback.given-up');
  await rollBackBriefly(deps, task);
}

/**
 * Rolls back a create request that the backend surely did not get: there is no task and the key is free. Publishes a
 * last snapshot in `refunded`, which refunds the unit even if this process dies.
 * @throws TaskMovedError when the task is no longer `submitting`.
 */
export async function rollBackSubmission(deps: SubmitDeps, task: Task): Promise<void> {
  const change = { move: 'take_back' as const, recoverAfterMs: deps.settings.leaseMs };
  const undoing = await inTransaction(deps.db, async (tx) => {
    const moved = await moveTask(tx, task, change);
    await freeKey(tx, task.taskId);
    await publishRolledBack(tx, moved);
    return moved;
  });
  deps.signals.moved(undoing, change);
  deps.wakeRelay();
  crashPoint('tasks.submit.taken-back');
  await rollBackBriefly(deps, undoing);
}

async function rollBackBriefly(deps: RollbackDeps, undoing: Task): Promise<void> {
  const rollback = finishRollback(deps, undoing).catch((error: unknown) => {
    deps.logger.warn(
      { err: error, task_id: undoing.taskId },
      'create request not rolled back yet; the recovery continues',
    );
  });
  await atMost(ROLLBACK_WAIT_MS, rollback);
}

/** Releases the unit and the object of a draft in `undoing` and removes it. May be repeated from any point. */
export async function finishRollback({ db, quota, store }: RollbackDeps, draft: Task): Promise<void> {
  if (draft.admittedAt !== null) await quota.refund(draft.reservationId, draft.subject);
  crashPoint('tasks.rollback.refunded');
  if (draft.objectKey !== null) {
    await store.abortIncomplete(draft.objectKey);
    await store.remove([draft.objectKey]);
  }
  crashPoint('tasks.rollback.object-removed');
  await inTransaction(db, (tx) => removeRolledBack(tx, draft));
}

/**
 * Refunds the units of create requests of a subject that are being rolled back or whose process died; the recovery does
 * the rest. @returns the number of refunds.
 * @throws AppError OP-SYS-UNAVAILABLE when quota does not answer.
 */
export async function refundDeadCreates({ db, quota }: Pick<Deps, 'db' | 'quota'>, subject: string): Promise<number> {
  // Claimed without a lease, so that the recovery may continue with them at once.
  const dead = await claimDeadDrafts(db, { subject, limit: DEAD_AT_ONCE, leaseMs: 0 });
  for (const draft of dead) if (draft.status !== 'undoing') await giveUp(db, draft);
  const undoing = await listUndoing(db, subject, DEAD_AT_ONCE);
  await Promise.all(undoing.map((draft) => quota.refund(draft.reservationId, subject)));
  return undoing.length;
}

async function giveUp(db: Deps['db'], draft: Task): Promise<void> {
  try {
    await inTransaction(db, (tx) => moveTask(tx, draft, { move: 'give_up', recoverAfterMs: 0 }));
  } catch (error) {
    if (!(error instanceof TaskMovedError)) throw error;
  }
}
