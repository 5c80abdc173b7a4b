import { noteResultsCompleted as note } from '../db/tasks.ts';
import type { Deps } from './deps.ts';

/** Every frame of the task can be read: it may end now. */
export async function noteResultsCompleted(
  { db, wakeReconciler }: Pick<Deps, 'db' | 'wakeReconciler'>,
  taskId: string,
): Promise<void> {
  if (await note(db, taskId)) wakeReconciler();
}
