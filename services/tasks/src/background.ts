import { createPoller } from '@vision/shared/async/poller';
import { createConsumer } from '@vision/shared/messaging/consumer';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createRelay } from '@vision/shared/messaging/relay';
import type { ServiceContext } from '@vision/shared/run';
import type { Config } from './config.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { countByStatus } from './db/tasks.ts';
import type { Deps } from './use-cases/deps.ts';
import { runRetention } from './use-cases/run-retention.ts';
import { reconcile } from './use-cases/reconcile.ts';
import { recoverCreates } from './use-cases/recover-creates.ts';

export interface Background {
  wakeRelay: () => void;
  wakeReconciler: () => void;
  isAlive: () => boolean;
  stop: () => Promise<void>;
}

/** How often the reconciler looks for tasks that are due; how often one task is asked about is in its row. */
const LOOK_MS = 200;

const CENSUS_MS = 10_000;

/** Starts everything that works without being asked: relay, consumer, reconciler, recovery. */
export function startBackground(deps: Deps, config: Config, { logger, onFatal }: ServiceContext): Background {
  const kafka = createKafka({
    brokers: config.KAFKA_BROKERS,
    clientId: 'tasks',
    logger,
    topicPrefix: config.TOPIC_PREFIX,
  });
  const producer = createProducer(kafka);
  const relay = createRelay({ db: deps.db, producer, logger });
  const consumer = createConsumer({ kafka, groupId: 'tasks', subscriptions: subscriptions(deps), onFatal });
  const failures = { inRow: 0 };
  const reconciler = createPoller({
    name: 'reconciler',
    intervalMs: LOOK_MS,
    logger,
    maxBackoffMs: 2_000,
    run: () => reconcile(deps, failures),
  });
  const recovery = createPoller({
    name: 'recovery',
    intervalMs: config.RECOVERY_MS,
    logger,
    run: () => recoverCreates(deps),
  });
  const retention = createPoller({
    name: 'retention',
    intervalMs: config.RETENTION_INTERVAL_MS,
    logger,
    maxBackoffMs: 60_000,
    run: async () => {
      const removed = await runRetention(deps, config.RETENTION_BATCH);
      if (Object.values(removed).some((count) => count > 0)) logger.info(removed, 'expired tasks were removed');
      return 0;
    },
  });
  const census = createPoller({
    name: 'census',
    intervalMs: CENSUS_MS,
    logger,
    run: async () => {
      deps.signals.census(await countByStatus(deps.db));
      return 0;
    },
  });
  for (const part of [relay, consumer, reconciler, recovery, retention, census]) part.start();
  return {
    wakeRelay: relay.wake,
    wakeReconciler: reconciler.wake,
    isAlive: consumer.isAlive,
    stop: async () => {
      await Promise.all([consumer.stop(10_000), reconciler.stop(), recovery.stop(), retention.stop(), census.stop()]);
      await relay.stop();
      await producer.stop();
    },
  };
}
