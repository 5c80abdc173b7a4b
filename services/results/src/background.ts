import { createAuditor } from '@vision/shared/audit/auditor';
import type { WakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import { groupFeatures, topics } from '@vision/contracts/topics';
import { createDueWorkPoller, IDLE_POLL_MS } from '@vision/shared/db/due-work';
import type { Logger } from '@vision/shared/logger';
import { createBatchConsumer } from '@vision/kafka/batch-consumer';
import { createConsumer } from '@vision/kafka/consumer';
import type { EventConsumer } from '@vision/kafka/consumer';
import type { KafkaClient } from '@vision/kafka/kafka';
import type { EventProducer } from '@vision/kafka/producer';
import type { Relay } from '@vision/kafka/relay';
import type { Config } from './config.ts';
import { frameEvents, frameHandler } from './consumers/frames.ts';
import { jobSubscriptions } from './consumers/jobs.ts';
import { ruleSubscriptions } from './consumers/rules.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { bringBackInstants } from './db/bring-back-instants.ts';
import { ANY_FOLD_DUE } from './db/folds.ts';
import { ANY_END_OVERDUE } from './db/ingests.ts';
import { auditsOf } from './use-cases/operate/audits.ts';
import { compactFrames, createRowFinder } from './use-cases/segments/compact-frames.ts';
import type { Deps } from './use-cases/deps.ts';
import { foldTasks } from './use-cases/fold/fold-tasks.ts';
import { applyOverdueEnds } from './use-cases/store/apply-overdue-ends.ts';
import { retentionInTurn } from './use-cases/retain/retention-in-turn.ts';
import { sweepSegmentObjects } from './use-cases/retain/sweep-segment-objects.ts';
import { sweepTrackSnapshots } from './use-cases/retain/sweep-track-snapshots.ts';
import { verifySegments } from './use-cases/segments/verify-segments.ts';

export interface Background {
  consumers: Record<'frames' | 'tasks' | 'jobs' | 'rules', EventConsumer>;
  /** Whether all consumers work; for the liveness check. */
  isAlive: () => boolean;
  start: () => void;
  stop: () => Promise<void>;
}

export interface BackgroundParts {
  kafka: KafkaClient;
  producer: EventProducer;
  relay: Relay;
  /** Starts a round of the fold. */
  foldWakeUp: WakeUp;
  onFatal: (error: unknown) => void;
}

/** Interval between queries for tasks whose frames are rows. */
const ROWS_MS = 60_000;
/** Pause between two rounds that read the objects of new segments back. */
const VERIFY_MS = 10_000;

/** Builds everything that runs without a request: relay, consumers of frames and of tasks, retention, audits. */
export function createBackground(
  deps: Deps,
  config: Config,
  { kafka, producer, relay, foldWakeUp, onFatal }: BackgroundParts,
): Background {
  const frames = createBatchConsumer({
    db: deps.db,
    kafka,
    groupId: 'results-frames',
    topic: topics.frames,
    definitions: frameEvents,
    features: [groupFeatures.frameSegments],
    handle: frameHandler(deps),
    onFatal,
    chunkSize: config.FRAMES_PER_TRANSACTION,
    // While one transaction waits for its commit, the records of the next are decoded.
    concurrency: 4,
  });
  const consumer = { db: deps.db, kafka, onFatal };
  const again = { ...consumer, rebuilds: true };
  const tasks = createConsumer({ ...again, groupId: 'results-tasks', subscriptions: subscriptions(deps) });
  const jobs = createConsumer({ ...consumer, groupId: 'results-jobs', subscriptions: jobSubscriptions(deps) });
  const rules = createConsumer({ ...again, groupId: 'results-rules', subscriptions: ruleSubscriptions(deps) });
  const retention = createPoller({
    name: 'retention',
    intervalMs: config.RETENTION_INTERVAL_MS,
    logger: kafka.logger,
    run: async (signal) => {
      await retentionInTurn(deps, { everyMs: config.RETENTION_INTERVAL_MS, signal });
      return 0;
    },
  });
  const ends = createLookedFor(deps, config, { relay, foldWakeUp, logger: kafka.logger });
  const compaction = createCompaction(deps, config, kafka.logger);
  const auditor = createAuditor({
    db: deps.db,
    logger: kafka.logger,
    audits: auditsOf(deps),
    config,
  });
  return {
    consumers: { frames, tasks, jobs, rules },
    isAlive: () => [frames, tasks, jobs, rules].every((one) => one.isAlive()),
    start: () => {
      for (const part of [relay, frames, tasks, jobs, rules, retention, ...ends, auditor, ...compaction]) part.start();
    },
    stop: async () => {
      const pollers = [retention, ...ends, auditor, ...compaction];
      const consumers = [frames, tasks, jobs, rules].map((consumer) => consumer.stop(10_000));
      await Promise.all([...consumers, ...pollers.map((poller) => poller.stop())]);
      await deps.liveRules.stop();
      await relay.stop();
      await producer.stop();
    },
  };
}

/**
 * Applies overdue end-of-stream markers and folds frames; one statement finds both and events without a notification.
 */
function createLookedFor(
  deps: Deps,
  config: Config,
  { relay, foldWakeUp, logger }: { relay: Relay; foldWakeUp: WakeUp; logger: Logger },
): Poller[] {
  const ends = createPoller({
    name: 'overdue_ends',
    intervalMs: IDLE_POLL_MS,
    logger,
    run: () => applyOverdueEnds(deps),
  });
  const fold = createPoller({
    name: 'fold',
    intervalMs: IDLE_POLL_MS,
    logger,
    wakeUp: foldWakeUp,
    maxBackoffMs: 60_000,
    run: () => foldTasks(deps),
  });
  const dueWork = [
    relay.dueWork,
    { isDue: ANY_END_OVERDUE, wake: ends.wake },
    { isDue: ANY_FOLD_DUE, wake: fold.wake },
  ];
  const { hotMs, framePatienceMs: patienceMs } = deps.settings;
  const afterStepBack = () => bringBackInstants(deps.db, { hotMs, patienceMs });
  return [
    ends,
    fold,
    createDueWorkPoller({ db: deps.db, logger, intervalMs: config.END_CHECK_MS, dueWork, afterStepBack }),
  ];
}

/** Turns hot frames, and rows of earlier releases, into large segments, and removes unused objects. */
function createCompaction(deps: Deps, config: Config, logger: Logger): Poller[] {
  const findRows = createRowFinder(deps);
  return [
    createPoller({
      name: 'compaction',
      intervalMs: config.SEGMENT_INTERVAL_MS,
      logger,
      maxBackoffMs: 60_000,
      run: (signal) => compactFrames(deps, signal),
    }),
    createPoller({
      name: 'rows',
      intervalMs: ROWS_MS,
      logger,
      run: findRows,
    }),
    createPoller({
      name: 'verification',
      intervalMs: VERIFY_MS,
      logger,
      maxBackoffMs: 60_000,
      run: () => verifySegments(deps),
    }),
    createPoller({
      name: 'sweep',
      intervalMs: config.SWEEP_INTERVAL_MS,
      logger,
      maxBackoffMs: 60_000,
      // Images of tracks are in the list too.
      run: () => sweepSegmentObjects(deps),
    }),
    createPoller({
      name: 'image-sweep',
      intervalMs: config.RETENTION_INTERVAL_MS,
      logger,
      maxBackoffMs: config.RETENTION_INTERVAL_MS,
      run: async (signal) => {
        await sweepTrackSnapshots(deps, { everyMs: config.RETENTION_INTERVAL_MS, signal });
        return 0;
      },
    }),
  ];
}
