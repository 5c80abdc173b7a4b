import { sourceChanged } from '@vision/shared/contracts/job-events';
import { on } from '@vision/shared/messaging/subscription';
import type { Subscription } from '@vision/shared/messaging/subscription';
import { storeSource } from '../use-cases/store-source.ts';

/** Handlers of the facts that the backend publishes about jobs at work. */
export function jobSubscriptions(): Subscription[] {
  return [on(sourceChanged, ({ data }, { transaction }) => transaction((tx) => storeSource({ db: tx }, data)))];
}
