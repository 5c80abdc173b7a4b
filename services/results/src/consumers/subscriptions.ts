import { taskChanged } from '@vision/shared/contracts/task-events';
import { on } from '@vision/shared/messaging/subscription';
import type { Subscription } from '@vision/shared/messaging/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { learnTask } from '../use-cases/learn-task.ts';

export function subscriptions(deps: Pick<Deps, 'db'>): Subscription[] {
  return [on(taskChanged, (event) => learnTask(deps, event.data))];
}
