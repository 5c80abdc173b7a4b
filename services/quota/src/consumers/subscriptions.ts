import { imageCallFinished } from '@vision/contracts/image-events';
import { taskChanged } from '@vision/contracts/task-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { applyImageCall } from './image-call-finished.ts';
import { applyTask } from './task-changed.ts';

/**
 * Neither handler needs an inbox: a reservation is closed once, so an event that comes twice, late or before its
 * reserve changes nothing.
 */
export function subscriptions(deps: Pick<Deps, 'signals'>): Subscription[] {
  return [
    on(taskChanged, ({ data }, { transaction }) => applyTask(deps, data, transaction)),
    on(imageCallFinished, ({ data }, { transaction }) => applyImageCall(deps, data, transaction)),
  ];
}
