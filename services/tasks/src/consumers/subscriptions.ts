import { imageCallFinished } from '@vision/contracts/image-events';
import { taskResultsCompleted } from '@vision/contracts/task-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { noteResultsCompleted } from '../use-cases/follow/note-results-completed.ts';
import { recordImageCall } from '../use-cases/follow/record-image-call.ts';

/** Events of other services that this service handles. */
export const subscriptions = (deps: Pick<Deps, 'wakeReconciler'>): Subscription[] => [
  on(taskResultsCompleted, ({ data }, { transaction }) => noteResultsCompleted(deps, data, transaction)),
  on(imageCallFinished, ({ data }, { transaction }) => transaction((tx) => recordImageCall({ db: tx }, data))),
];
