import { taskChanged } from '@vision/shared/contracts/task-events';
import { on } from '@vision/shared/messaging/subscription';
import type { Subscription } from '@vision/shared/messaging/subscription';
import { learnTask } from '../use-cases/learn-task.ts';

export function subscriptions(): Subscription[] {
  return [on(taskChanged, ({ data }, { transaction }) => transaction((tx) => learnTask({ db: tx }, data)))];
}
