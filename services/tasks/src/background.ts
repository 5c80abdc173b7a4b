import { createAuditor } from '@vision/shared/audit/auditor';
import type { WakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import { createLeaseWatch } from '@vision/creation/lease-watch';
import type { LeaseWatch } from '@vision/creation/lease-watch';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import type { DueWork } from '@vision/shared/db/due-work';
import { createConsumer } from '@vision/kafka/consumer';
import type { KafkaClient } from '@vision/kafka/kafka';
import type { EventProducer } from '@vision/kafka/producer';
import type { Relay } from '@vision/kafka/relay';
import { createCensus } from '@vision/shared/async/census';
import type { Config } from './config.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { bringBackInstants } from './db/bring-back-instants.ts';
import { ANYTHING_DEAD } from './db/dead-drafts.ts';
import { ANY_DELETION_DUE } from './db/deleted-tasks.ts';
import { ANY_DUE } from './db/jobs.ts';
import { countByStatus } from './db/tasks.ts';
import type { Deps } from './use-cases/deps.ts';
import { auditsOf } from './use-cases/operate/audits.ts';
import { endWhenReadable } from './use-cases/follow/end-when-readable.ts';
import { createReconciler, longestPauseMs } from './use-cases/follow/reconcile.ts';
import { recoverCreates } from './use-cases/create/recover-creates.ts';
import { runRetention } from './use-cases/retain/run-retention.ts';
import { tellDueDeletions } from './use-cases/retain/tell-deletions.ts';

export interface Background {
  start: () => void;
  /** Whether the consumer runs; for the liveness check. */
  isAlive: () => boolean;
  stop: () => Promise<void>;
}

interface BackgroundWakeUps {
  /** Woken when a task is due. */
  reconciler: WakeUp;
  /** Woken when a create request asks for a capacity slot. */
  slots: WakeUp;
}

export interface BackgroundParts {
  kafka: KafkaClient;
  producer: EventProducer;
  relay: Relay;
  wakeUps: BackgroundWakeUps;
  onFatal: (error: unknown) => void;
}

/** Interval between checks of ended jobs whose tasks wait for frames; they are in memory. */
const READABILITY_MS = 200;
/** Pause between two rounds of granting slots; a round without waiting create requests makes no query. */
const SLOTS_MS = 500;

/** Builds the background jobs: relay, consumer, reconciler, recovery, retention, audits. */
export function createBackground(
  deps: Deps,
  config: Config,
  { kafka, producer, relay, wakeUps, onFatal }: BackgroundParts,
): Background {
  const { db, logger } = deps;
  const consumer = createConsumer({ db, kafka, groupId: 'tasks', subscriptions: subscriptions(deps), onFatal });
  const { runRound, pauseMs } = createReconciler(deps);
  const reconciler = createPoller({
    name: 'reconciler',
    intervalMs: pauseMs,
    logger,
    maxBackoffMs: 2_000,
    wakeUp: wakeUps.reconciler,
    run: runRound,
  });
  const readability = createPoller({
    name: 'readability',
    intervalMs: READABILITY_MS,
    logger,
    maxBackoffMs: 2_000,
    run: () => endWhenReadable(deps),
  });
  const deletions = deletionsPoller(deps);
  const leaseWatch = leaseWatchOf(deps, config, [
    relay.dueWork,
    { isDue: ANY_DUE, wake: reconciler.wake },
    { isDue: ANY_DELETION_DUE, wake: deletions.wake },
  ]);
  const recovery = createPoller({
    name: 'recovery',
    intervalMs: config.RECOVERY_MS,
    logger,
    run: async () => (leaseWatch.sawDead() ? recoverCreates(deps) : 0),
  });
  const retention = retentionPoller(deps, config.RETENTION_INTERVAL_MS);
  const census = createCensus({ name: 'census', ask: () => countByStatus(db), show: deps.signals.census, logger });
  const auditor = createAuditor({ db, logger, audits: auditsOf(deps), config });
  const slots = slotsPoller(deps, wakeUps.slots);
  const pollers = [reconciler, readability, slots, leaseWatch, recovery, deletions, retention, census, auditor];
  return {
    start: () => {
      relay.start();
      consumer.start();
      for (const poller of pollers) poller.start();
    },
    isAlive: consumer.isAlive,
    stop: async () => {
      await Promise.all([consumer.stop(10_000), ...pollers.map((poller) => poller.stop())]);
      await relay.stop();
      await producer.stop();
    },
  };
}

function leaseWatchOf({ db, logger, settings }: Deps, { LEASE_MS: leaseMs }: Config, dueWork: DueWork[]): LeaseWatch {
  const afterGap = () => bringBackInstants(db, { leaseMs, longestMs: longestPauseMs(settings) });
  return createLeaseWatch({ db, logger, leaseMs, dead: ANYTHING_DEAD, dueWork, afterGap });
}

const slotsPoller = ({ slots, logger }: Deps, wakeUp: WakeUp): Poller =>
  createPoller({ name: 'places', intervalMs: SLOTS_MS, logger, maxBackoffMs: 1_000, wakeUp, run: slots.round });

const deletionsPoller = (deps: Deps): Poller =>
  createPoller({
    name: 'deletions',
    intervalMs: IDLE_POLL_MS,
    logger: deps.logger,
    maxBackoffMs: 30_000,
    run: () => tellDueDeletions(deps),
  });

const retentionPoller = (deps: Deps, intervalMs: number): Poller =>
  createPoller({
    name: 'retention',
    intervalMs,
    logger: deps.logger,
    maxBackoffMs: 60_000,
    run: thenPause((signal) => runRetention(deps, { everyMs: intervalMs, signal })),
  });

/** Runs one round and returns 0, so that the next one comes after the pause. */
const thenPause = (work: (signal: AbortSignal) => Promise<unknown>) => async (signal: AbortSignal) => {
  await work(signal);
  return 0;
};
