import { createAuditor } from '@vision/shared/audit/auditor';
import { createPoller } from '@vision/shared/async/poller';
import { createLeaseWatch } from '@vision/creation/lease-watch';
import type { Logger } from '@vision/shared/logger';
import type { EventProducer } from '@vision/kafka/producer';
import type { Relay } from '@vision/kafka/relay';
import type { Config } from './config.ts';
import { ANYTHING_DEAD, bringBackLeases } from './db/idempotency-keys.ts';
import { auditsOf } from './use-cases/audits.ts';
import type { Deps } from './use-cases/deps.ts';
import { recoverDeadCalls } from './use-cases/recover-dead-calls.ts';
import { runRetention } from './use-cases/run-retention.ts';
import { sweepOrphanPictures } from './use-cases/sweep-orphan-pictures.ts';

export interface Background {
  start: () => void;
  stop: () => Promise<void>;
}

export interface BackgroundParts {
  producer: EventProducer;
  relay: Relay;
  logger: Logger;
}

/**
 * Builds the background jobs: relay, recovery, sweep, retention and audits. Every replica may run them at the same
 * time; the sweep runs on one replica for all.
 */
export function createBackground(deps: Deps, config: Config, { producer, relay, logger }: BackgroundParts): Background {
  const leaseWatch = createLeaseWatch({
    db: deps.db,
    logger,
    leaseMs: config.LEASE_MS,
    dead: ANYTHING_DEAD,
    dueWork: [relay.dueWork],
    afterGap: () => bringBackLeases(deps.db, config.LEASE_MS),
  });
  const pollers = [
    leaseWatch,
    createPoller({
      name: 'recovery',
      intervalMs: config.RECOVERY_INTERVAL_MS,
      logger,
      run: async () => (leaseWatch.sawDead() ? recoverDeadCalls(deps) : 0),
    }),
    createPoller({
      name: 'orphan-sweep',
      intervalMs: config.SWEEP_INTERVAL_MS,
      logger,
      run: (signal) =>
        sweepOrphanPictures(deps, { everyMs: config.SWEEP_INTERVAL_MS, signal }).then(waitForNextInterval),
    }),
    createPoller({
      name: 'retention',
      intervalMs: config.RETENTION_INTERVAL_MS,
      logger,
      run: (signal) => runRetention(deps, signal).then(waitForNextInterval),
    }),
    createAuditor({
      db: deps.db,
      logger,
      audits: auditsOf(deps),
      config,
    }),
  ];
  return {
    start: () => {
      relay.start();
      for (const poller of pollers) poller.start();
    },
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()));
      await relay.stop();
      await producer.stop();
    },
  };
}

/** One run handles all pending rows, so the poller need not run again at once. */
const waitForNextInterval = () => 0;
