import { createPoller } from '@vision/shared/async/poller';
import { topics } from '@vision/shared/contracts/topics';
import { createBatchConsumer } from '@vision/shared/messaging/batch-consumer';
import { createConsumer } from '@vision/shared/messaging/consumer';
import type { EventConsumer } from '@vision/shared/messaging/consumer';
import type { KafkaClient } from '@vision/shared/messaging/kafka';
import type { Config } from './config.ts';
import { frameEvents, frameHandler } from './consumers/frames.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import type { Deps } from './use-cases/deps.ts';
import { runRetention } from './use-cases/run-retention.ts';

export interface Background {
  consumers: { frames: EventConsumer; tasks: EventConsumer };
  isAlive: () => boolean;
  start: () => void;
  stop: () => Promise<void>;
}

/** Everything that works without being asked: frames and tasks are taken in, what has expired is removed. */
export function createBackground(
  config: Config,
  deps: Deps,
  { kafka, onFatal }: { kafka: KafkaClient; onFatal: (error: unknown) => void },
): Background {
  const frames = createBatchConsumer({
    kafka,
    groupId: 'results-frames',
    topic: topics.frames,
    definitions: frameEvents,
    handle: frameHandler(deps),
    onFatal,
    chunkSize: config.FRAMES_PER_TRANSACTION,
    // While one partition waits for its commit, the others are decoded.
    concurrency: 4,
  });
  const tasks = createConsumer({ kafka, groupId: 'results-tasks', subscriptions: subscriptions(deps), onFatal });
  const retention = createPoller({
    name: 'results-retention',
    intervalMs: config.RETENTION_INTERVAL_MS,
    logger: kafka.logger,
    run: async () => {
      await runRetention(deps);
      return 0;
    },
  });
  return {
    consumers: { frames, tasks },
    isAlive: () => frames.isAlive() && tasks.isAlive(),
    start: () => {
      for (const part of [frames, tasks, retention]) part.start();
    },
    stop: async () => {
      await Promise.all([frames.stop(10_000), tasks.stop(10_000), retention.stop()]);
    },
  };
}
