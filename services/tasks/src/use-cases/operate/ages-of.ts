import { databaseNow } from '@vision/shared/db/clock';
import type { VisibleTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/** A task with the seconds since its creation, by the clock that dated it. */
export interface AgedTask {
  task: VisibleTask;
  ageS: number;
}

/** Returns the ages of tasks; for operators. */
export async function agesOf({ db }: Pick<Deps, 'db'>, tasks: VisibleTask[]): Promise<AgedTask[]> {
  const now = (await databaseNow(db)).getTime();
  return tasks.map((task) => ({ task, ageS: Math.max(0, Math.round((now - task.createdAt.getTime()) / 1000)) }));
}
