import { imageCallFinished } from '@vision/shared/contracts/image-events';
import { taskChanged } from '@vision/shared/contracts/task-events';
import { on } from '@vision/shared/messaging/subscription';
import type { Subscription } from '@vision/shared/messaging/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { applyImageCall } from './image-call-finished.ts';
import { applyTask } from './task-changed.ts';

/**
 * Neither handler needs an inbox: a reservation is closed once, so an event that comes twice, late or before its
 * reserve changes nothing.
 */
export function subscriptions(deps: Pick<Deps, 'db' | 'signals'>): Subscription[] {
  return [
    on(taskChanged, (event) => applyTask(deps, event.data)),
    on(imageCallFinished, (event) => applyImageCall(deps, event.data)),
  ];
}
