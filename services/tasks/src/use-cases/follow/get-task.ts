import { fail } from '@vision/contracts/errors';
import { findDeleted } from '../../db/deleted-tasks.ts';
import { findVisibleTask } from '../../db/tasks.ts';
import type { VisibleTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/**
 * A task of this subject, image calls included. An image call that was not heard of yet is asked for at the images
 * service; ids of others and ids that never were take the very same way.
 * @throws AppError not_found.
 */
export async function getTask(
  { db, images }: Pick<Deps, 'db' | 'images'>,
  { subject, taskId }: { subject: string; taskId: string },
): Promise<VisibleTask> {
  const task = await findVisibleTask(db, { taskId, subject });
  if (task) return task;
  // Images may not have heard yet that the call is deleted.
  const call = (await findDeleted(db, { taskId, subject })) ? undefined : await images?.find(subject, taskId);
  if (!call) throw fail.notFound('There is no such task.', 'task_not_found');
  return call;
}
