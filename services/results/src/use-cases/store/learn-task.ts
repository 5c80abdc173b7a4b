import type { Knex } from 'knex';
import { scheduleFold, lockRules } from '../../db/alarm-rules.ts';
import { isDeletedForNow } from '../../db/deleted-tasks.ts';
import { saveTaskView } from '../../db/task-views.ts';
import type { TaskView } from '../../domain/task-view.ts';

/**
 * Stores the facts of a task that readers and alarm rules need. The newest version wins, so order and repeats do not
 * matter. A deleted task is not stored again. Returns whether the task has to be folded now.
 */
export async function learnTask(tx: Knex.Transaction, task: TaskView): Promise<boolean> {
  await lockRules(tx, task.subject, 'task');
  if (await isDeletedForNow(tx, task.task_id)) return false;
  return (await saveTaskView(tx, task)) && (await scheduleFold(tx, task.task_id));
}
