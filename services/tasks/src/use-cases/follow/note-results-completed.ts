import type { ResultsCompleted } from '@vision/contracts/task-events';
import type { EffectTransaction } from '@vision/kafka/progress';
import { noteResultsCompleted as note } from '../../db/tasks.ts';
import type { Deps } from '../deps.ts';

/** Records that every frame of this attempt is readable, so that the task may end. */
export async function noteResultsCompleted(
  { wakeReconciler }: Pick<Deps, 'wakeReconciler'>,
  { task_id: taskId, attempt }: Pick<ResultsCompleted, 'attempt' | 'task_id'>,
  transaction: EffectTransaction,
): Promise<void> {
  if (await transaction((tx) => note(tx, taskId, attempt))) wakeReconciler();
}
