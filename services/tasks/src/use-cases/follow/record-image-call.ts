import type { ImageCallSnapshot } from '@vision/contracts/image-events';
import { imageTask } from '../../domain/image-task.ts';
import { removeImageTask, saveImageTask } from '../../db/image-tasks.ts';
import type { Deps } from '../deps.ts';

/** Stores the task record of a finished image call for the history; a rolled back call has none. */
export async function recordImageCall({ db }: Pick<Deps, 'db'>, call: ImageCallSnapshot): Promise<void> {
  if (call.status === 'refunded') await removeImageTask(db, call.task_id);
  else await saveImageTask(db, imageTask(call));
}
