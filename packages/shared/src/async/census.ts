import { createPoller } from './poller.ts';
import type { Poller } from './poller.ts';
import type { Logger } from '../logger.ts';

export interface CensusOptions<T> {
  /** For the log. */
  name: string;
  /** Asks a store: one statement that an index answers. */
  ask: () => Promise<T>;
  /** Takes what the gauges show from now on; undefined while the store does not answer, and then they show nothing. */
  show: (found: T | undefined) => void;
  logger: Logger;
}

/** About as often as metrics are read; reading them queries no store. */
const INTERVAL_MS = 15_000;

/** Keeps gauges up to date that a store is asked for. Every replica asks, so panels take the largest. */
export function createCensus<T>({ name, ask, show, logger }: CensusOptions<T>): Poller {
  return createPoller({
    name,
    intervalMs: INTERVAL_MS,
    maxBackoffMs: INTERVAL_MS,
    logger,
    run: async () => {
      try {
        show(await ask());
      } catch (error) {
        // What was found before would look like now.
        show(undefined);
        throw error;
      }
      return 0;
    },
  });
}
