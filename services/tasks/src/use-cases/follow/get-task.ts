import { fail } from '@vision/contracts/errors';
import { findDeleted } from '../../db/deleted-tasks.ts';
import { findVisibleTask } from '../../db/tasks.ts';
import type { VisibleTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/**
 * A task of this subject, image calls included. For an unknown id the images service is queried, because its event may
 * not have arrived; ids of other subjects and ids that never existed take the same path.
 * @throws AppError not_found.
 */
export async function getTask(
  { db, images }: Pick<Deps, 'db' | 'images'>,
  { subject, taskId }: { subject: string; taskId: string },
): Promise<VisibleTask> {
  const task = await findVisibleTask(db, { taskId, subject });
  if (task) return task;
  // The images service may not know yet that the call is deleted.
  const call = (await findDeleted(db, { taskId, subject })) ? undefined : await images?.find(subject, taskId);
  if (!call) throw fail.notFound('There is no such task.', 'task_not_found');
  return call;
}
