import { atMost } from '@vision/shared/async/at-most';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import { claimDeletion, findDeleted, storeDeletion } from '../../db/deleted-tasks.ts';
import { saveImageTask } from '../../db/image-tasks.ts';
import { findVisibleTask } from '../../db/tasks.ts';
import { isEnded } from '../../domain/task.ts';
import type { DeletedTask, VisibleTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { RETRY_MS, tellDeletions } from './tell-deletions.ts';
import type { TellDeps } from './tell-deletions.ts';

/** Maximum wait of the caller for the service that has the results. */
const TELL_WAIT_MS = 2_000;

/**
 * Deletes an ended task or an image call of this subject with all its data. It is hidden from callers at once; the
 * service that has its results is called at once, and again until it confirms. A repeat gets the same answer.
 * @throws AppError not_found; conflict `task_not_ended`.
 */
export async function deleteTask(
  deps: TellDeps & Pick<Deps, 'logger'>,
  id: { subject: string; taskId: string },
): Promise<DeletedTask> {
  const task = await findVisibleTask(deps.db, id);
  const { deleted, isNew } = task ? await deleteFound(deps, task) : await findDeletedOrCall(deps, id);
  // A repeat joins the removal in progress; it notifies the service only of an overdue deletion.
  if (isNew || (await claimDeletion(deps.db, { taskId: deleted.taskId, leaseMs: RETRY_MS }))) {
    const telling = tellDeletions(deps, [deleted]).catch((error: unknown) => {
      deps.logger.warn({ err: error, task_id: deleted.taskId }, 'a deletion is not confirmed yet; it is repeated');
    });
    await atMost(TELL_WAIT_MS, telling);
  }
  return deleted;
}

interface Deletion {
  deleted: DeletedTask;
  /** Whether this request stored the deletion, so that it has to notify the service. */
  isNew: boolean;
}

/** An invisible task may be deleted already, or be an image call whose event has not arrived. */
async function findDeletedOrCall(
  deps: Pick<Deps, 'db' | 'images' | 'signals'>,
  { subject, taskId }: { subject: string; taskId: string },
): Promise<Deletion> {
  const deleted = await findDeleted(deps.db, { subject, taskId });
  if (deleted) return { deleted, isNew: false };
  const call = await deps.images?.find(subject, taskId);
  if (!call) throw noTask();
  return deleteFound(deps, call);
}

async function deleteFound(deps: Pick<Deps, 'db' | 'signals'>, task: VisibleTask): Promise<Deletion> {
  if (!isEnded(task.status)) throw fail.taskNotEnded(task.status);
  const stored = await inTransaction(deps.db, async (tx) => {
    // Its event may not have arrived yet: the record that it would create is stored here and hidden.
    if (task.kind === 'image') await saveImageTask(tx, task);
    return storeDeletion(tx, { taskId: task.taskId, leaseMs: RETRY_MS });
  });
  crashPoint('tasks.delete.stored');
  // Another request has deleted it meanwhile, or it has expired.
  const deleted = stored ?? (await findDeleted(deps.db, task));
  if (!deleted) throw noTask();
  if (stored) deps.signals.deleted(stored);
  return { deleted, isNew: stored !== undefined };
}

const noTask = () => fail.notFound('There is no such task.', 'task_not_found');
