import type { Knex } from 'knex';
import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import { createApp } from '@vision/shared/http/app';
import { requireServiceToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createConsumer } from '@vision/shared/messaging/consumer';
import type { EventConsumer } from '@vision/shared/messaging/consumer';
import { createKafka } from '@vision/shared/messaging/kafka';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import type { Config } from './config.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { migrations } from './db/migrations/list.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { runRetention } from './use-cases/run-retention.ts';

export interface QuotaService extends RunningService {
  /** Known after `start`. */
  port: number;
  healthPort: number;
  consumer: EventConsumer | undefined;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<QuotaService> {
  const db = openDatabase(config);
  const kafka = createKafka({
    brokers: config.KAFKA_BROKERS,
    clientId: 'quota',
    logger,
    topicPrefix: config.TOPIC_PREFIX,
  });
  const signals = createSignals(logger);
  const deps = { db, signals, days: config.LEDGER_RETENTION_DAYS, batch: config.RETENTION_BATCH };
  const app = createApp({
    routes: routes(deps),
    authenticate: requireServiceToken(config.INTERNAL_TOKEN_KEY, 'quota'),
    logger,
  });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const health = createHttpServer(
    healthListener({ ready: schemaReadiness(db, migrations), live: () => service.consumer?.isAlive() ?? true }),
    { host: config.HOST, port: config.HEALTH_PORT },
  );
  let retention: Poller | undefined;
  const service: QuotaService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    consumer: undefined,
    start: async () => {
      service.healthPort = await health.start();
      service.port = await server.start();
      service.consumer = createConsumer({ kafka, groupId: 'quota', subscriptions: subscriptions(deps), onFatal });
      service.consumer.start();
      retention = createPoller({
        name: 'ledger-retention',
        intervalMs: config.RETENTION_INTERVAL_MS,
        logger,
        run: async () => {
          signals.retentionRan(await runRetention(deps));
          return 0;
        },
      });
      retention.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(10_000) },
      {
        name: 'background',
        timeoutMs: 15_000,
        stop: async () => {
          await Promise.all([service.consumer?.stop(10_000), retention?.stop()]);
        },
      },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      { name: 'database', timeoutMs: 5_000, stop: () => db.destroy() },
    ],
  };
  return service;
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> => migrateOnce(config.DATABASE_URL, 'quota', migrations);

function openDatabase({ DATABASE_URL: url, DATABASE_POOL: poolMax, CLOCK_OFFSET: clockOffset }: Config): Knex {
  return createDb({ url, poolMax, applicationName: 'quota', clockOffset });
}
