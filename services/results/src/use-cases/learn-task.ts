import { saveTaskView } from '../db/task-views.ts';
import type { TaskView } from '../domain/task-view.ts';
import type { Deps } from './deps.ts';

/** Keeps what readers need to know of a task. The newest version wins, so order and repeats do not matter. */
export async function learnTask({ db }: Pick<Deps, 'db'>, task: TaskView): Promise<void> {
  await saveTaskView(db, task);
}
