import { taskChanged } from '@vision/contracts/task-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { learnTask } from '../use-cases/store/learn-task.ts';

export function subscriptions({ wakeFold }: Pick<Deps, 'wakeFold'>): Subscription[] {
  return [
    on(taskChanged, async ({ data }, { transaction }) => {
      if (await transaction((tx) => learnTask(tx, data))) wakeFold();
    }),
  ];
}
