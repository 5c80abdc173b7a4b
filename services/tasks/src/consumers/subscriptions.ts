import { imageCallFinished } from '@vision/shared/contracts/image-events';
import { taskResultsCompleted } from '@vision/shared/contracts/task-events';
import { on } from '@vision/shared/messaging/subscription';
import type { Subscription } from '@vision/shared/messaging/subscription';
import { imageTask } from '../clients/images.ts';
import { removeImageTask, saveImageTask } from '../db/image-tasks.ts';
import { noteResultsCompleted } from '../db/tasks.ts';
import type { Deps } from '../use-cases/deps.ts';

/** What this service hears from the others. */
export function subscriptions({ db, wakeReconciler }: Pick<Deps, 'db' | 'wakeReconciler'>): Subscription[] {
  return [
    on(taskResultsCompleted, async ({ data }) => {
      if (await noteResultsCompleted(db, data.task_id)) wakeReconciler();
    }),
    on(imageCallFinished, async ({ data }) => {
      if (data.status === 'refunded') await removeImageTask(db, data.task_id);
      else await saveImageTask(db, imageTask(data));
    }),
  ];
}
