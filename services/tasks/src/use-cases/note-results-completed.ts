import type { EffectTransaction } from '@vision/shared/messaging/progress';
import { noteResultsCompleted as note } from '../db/tasks.ts';
import type { Deps } from './deps.ts';

/** Every frame of the task can be read: it may end now. */
export async function noteResultsCompleted(
  { wakeReconciler }: Pick<Deps, 'wakeReconciler'>,
  taskId: string,
  transaction: EffectTransaction,
): Promise<void> {
  if (await transaction((tx) => note(tx, taskId))) wakeReconciler();
}
