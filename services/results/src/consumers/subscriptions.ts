import { taskChanged } from '@vision/contracts/task-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import { learnTask } from '../use-cases/learn-task.ts';

export function subscriptions(): Subscription[] {
  return [on(taskChanged, ({ data }, { transaction }) => transaction((tx) => learnTask({ db: tx }, data)))];
}
