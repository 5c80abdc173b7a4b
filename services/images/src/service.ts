import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { requireServiceToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createRelay } from '@vision/shared/messaging/relay';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { createBackground } from './background.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createDeps } from './deps.ts';
import { routes } from './http/routes.ts';

export interface ImagesService extends RunningService {
  /** Known after `start`. */
  port: number;
  healthPort: number;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<ImagesService> {
  const { DATABASE_URL: url, DATABASE_POOL: poolMax, CLOCK_OFFSET: clockOffset } = config;
  const db = createDb({ url, poolMax, applicationName: 'images', clockOffset });
  const { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix } = config;
  const producer = createProducer(createKafka({ brokers, clientId: 'images', logger, topicPrefix }));
  const relay = createRelay({ db, producer, logger });
  const deps = createDeps({ config, logger, db, wakeRelay: relay.wake });
  const background = createBackground(deps, config, logger);
  const authenticate = requireServiceToken(config.INTERNAL_TOKEN_KEY, 'images');
  const app = createApp({ routes: routes(deps), authenticate, logger });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const health = createHttpServer(healthListener({ ready: schemaReadiness(db, migrations) }), {
    host: config.HOST,
    port: config.HEALTH_PORT,
  });
  const service: ImagesService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    start: async () => {
      await deps.spool.prepare();
      service.healthPort = await health.start();
      relay.start();
      background.start();
      service.port = await server.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(config.SHUTDOWN_GRACE_MS - 1_000) },
      // Calls whose client has left are finished too.
      { name: 'calls', timeoutMs: 10_000, stop: () => deps.callGate.idle() },
      { name: 'background', timeoutMs: 10_000, stop: () => background.stop() },
      { name: 'events', timeoutMs: 10_000, stop: () => relay.stop().then(() => producer.stop()) },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      {
        name: 'clients',
        timeoutMs: 5_000,
        stop: async () => {
          deps.inference.close();
          deps.store.close();
          await Promise.all([db.destroy(), deps.spool.remove()]);
        },
      },
    ],
  };
  return service;
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'images', migrations);
