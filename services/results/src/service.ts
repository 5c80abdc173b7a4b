import { topics } from '@vision/shared/contracts/topics';
import type { Knex } from 'knex';
import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createPoller } from '@vision/shared/async/poller';
import { createApp } from '@vision/shared/http/app';
import { requireServiceToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceClient } from '@vision/shared/http/service-client';
import { createBatchConsumer } from '@vision/shared/messaging/batch-consumer';
import { createConsumer } from '@vision/shared/messaging/consumer';
import type { EventConsumer } from '@vision/shared/messaging/consumer';
import { createKafka } from '@vision/shared/messaging/kafka';
import type { KafkaClient } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createRelay } from '@vision/shared/messaging/relay';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { createTaskOwners } from './clients/task-owners.ts';
import type { Config } from './config.ts';
import { frameEvents, frameHandler } from './consumers/frames.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { migrations } from './db/migrations/list.ts';
import { cursorCodec } from './domain/cursor.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createPartitionKeeper } from './use-cases/keep-partitions.ts';
import { runRetention } from './use-cases/run-retention.ts';
import type { RetentionDeps } from './use-cases/run-retention.ts';

export interface ResultsService extends RunningService {
  /** Known after `start`. */
  port: number;
  healthPort: number;
  /** Known after `start`. */
  consumers: { frames: EventConsumer; tasks: EventConsumer } | undefined;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<ResultsService> {
  const db = openDatabase(config);
  const { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix, RETENTION_DAYS: retentionDays } = config;
  const kafka = createKafka({ brokers, clientId: 'results', logger, topicPrefix });
  const signals = createSignals(logger);
  const client = (audience: string, baseUrl: string) =>
    createServiceClient({
      baseUrl,
      issuer: 'results',
      audience,
      tokenKey: config.INTERNAL_TOKEN_KEY,
      timeoutMs: config.SERVICE_TIMEOUT_MS,
      logger,
    });
  const deps = {
    db,
    signals,
    retentionDays,
    partitions: createPartitionKeeper(db, retentionDays),
    owners: createTaskOwners(client('tasks', config.TASKS_URL), client('images', config.IMAGES_URL)),
    endPatienceMs: config.END_PATIENCE_MS,
    cursors: cursorCodec(config.INTERNAL_TOKEN_KEY),
  };
  const authenticate = requireServiceToken(config.INTERNAL_TOKEN_KEY, 'results');
  const app = createApp({ routes: routes(deps), authenticate, logger });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const isAlive = () => Object.values(service.consumers ?? {}).every((consumer) => consumer.isAlive());
  const health = createHttpServer(healthListener({ ready: schemaReadiness(db, migrations), live: isAlive }), {
    host: config.HOST,
    port: config.HEALTH_PORT,
  });
  let background: Background | undefined;
  const service: ResultsService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    consumers: undefined,
    start: async () => {
      service.healthPort = await health.start();
      service.port = await server.start();
      background = startBackground(config, deps, { kafka, onFatal });
      service.consumers = background.consumers;
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(10_000) },
      { name: 'consumers', timeoutMs: 15_000, stop: async () => background?.stopConsumers() },
      { name: 'relay', timeoutMs: 10_000, stop: async () => background?.stopRelay() },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      { name: 'database', timeoutMs: 5_000, stop: () => db.destroy() },
    ],
  };
  return service;
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'results', migrations);

interface Background {
  consumers: { frames: EventConsumer; tasks: EventConsumer };
  stopConsumers: () => Promise<void>;
  stopRelay: () => Promise<void>;
}

function startBackground(
  config: Config,
  deps: RetentionDeps & { db: Knex },
  { kafka, onFatal }: { kafka: KafkaClient; onFatal: (error: unknown) => void },
): Background {
  const { logger } = kafka;
  const producer = createProducer(kafka);
  const relay = createRelay({ db: deps.db, producer, logger });
  const frames = createBatchConsumer({
    kafka,
    groupId: 'results-frames',
    topic: topics.frames,
    definitions: frameEvents,
    handle: frameHandler({ ...deps, wakeRelay: relay.wake }),
    onFatal,
    chunkSize: config.FRAMES_PER_TRANSACTION,
    // While one partition waits for its commit, the others are decoded.
    concurrency: 4,
  });
  const tasks = createConsumer({ kafka, groupId: 'results-tasks', subscriptions: subscriptions(deps), onFatal });
  const retention = createPoller({
    name: 'results-retention',
    intervalMs: config.RETENTION_INTERVAL_MS,
    logger,
    run: async () => {
      deps.signals.retentionRan(await runRetention(deps));
      return 0;
    },
  });
  for (const part of [relay, frames, tasks, retention]) part.start();
  return {
    consumers: { frames, tasks },
    stopConsumers: async () => {
      await Promise.all([frames.stop(10_000), tasks.stop(10_000), retention.stop()]);
    },
    stopRelay: async () => {
      await relay.stop();
      await producer.stop();
    },
  };
}

function openDatabase({ DATABASE_URL: url, DATABASE_POOL: poolMax, CLOCK_OFFSET: clockOffset }: Config): Knex {
  return createDb({ url, poolMax, applicationName: 'results', clockOffset });
}
