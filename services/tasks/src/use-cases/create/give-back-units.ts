import { inTransaction } from '@vision/shared/db/transaction';
import { claimDeadDrafts, listUndoing } from '../../db/dead-drafts.ts';
import { moveTask, TaskMovedError } from '../../db/move-task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/** More are not looked at while a caller waits; the recovery comes to the others. */
const AT_ONCE = 20;

/**
 * Gives back the units that given-up and dead creates of a subject still hold; the recovery does the rest of their
 * undoing. @returns how many creates there were.
 * @throws AppError OP-SYS-UNAVAILABLE when quota does not answer.
 */
export async function giveBackUnits({ db, quota }: Pick<Deps, 'db' | 'quota'>, subject: string): Promise<number> {
  // Claimed for no time, so that the recovery may go on with them at once.
  const dead = await claimDeadDrafts(db, { subject, limit: AT_ONCE, leaseMs: 0 });
  for (const draft of dead) if (draft.status !== 'undoing') await giveUp(db, draft);
  const undoing = await listUndoing(db, subject, AT_ONCE);
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
