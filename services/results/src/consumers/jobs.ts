import { snapshotTaken, sourceChanged } from '@vision/contracts/job-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { storeSnapshot } from '../use-cases/store/store-snapshot.ts';
import { storeSource } from '../use-cases/store/store-source.ts';

/** Handlers of the events that the backend publishes about running jobs. */
export function jobSubscriptions({ wakeRelay }: Pick<Deps, 'wakeRelay'>): Subscription[] {
  return [
    on(sourceChanged, ({ data }, { transaction }) => transaction((tx) => storeSource({ db: tx }, data))),
    on(snapshotTaken, async ({ data }, { transaction }) => {
      if (await transaction((tx) => storeSnapshot({ db: tx }, data))) wakeRelay();
    }),
  ];
}
