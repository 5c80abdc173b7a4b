import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createServiceClient } from '@vision/shared/http/service-client';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createRelay } from '@vision/shared/messaging/relay';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { createBackground } from './background.ts';
import type { Background } from './background.ts';
import { createTaskOwners } from './clients/task-owners.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { cursorCodec } from './domain/cursor.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import type { Deps } from './use-cases/deps.ts';
import { createPartitionKeeper } from './use-cases/keep-partitions.ts';

export interface ResultsService extends RunningService {
  /** Known after `start`, as the other port. */
  readonly port: number;
  readonly healthPort: number;
  consumers: Background['consumers'];
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<ResultsService> {
  const { HOST: host, DATABASE_URL: url, DATABASE_POOL: poolMax, CLOCK_OFFSET: clockOffset } = config;
  const db = createDb({ url, poolMax, applicationName: 'results', clockOffset });
  const { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix } = config;
  const kafka = createKafka({ brokers, clientId: 'results', logger, topicPrefix });
  const producer = createProducer(kafka);
  const relay = createRelay({ db, producer, logger });
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys, SERVICE_TIMEOUT_MS: timeoutMs } = config;
  const calls = { signer: createTokenSigner({ issuer: 'results', key, publicKeys }), timeoutMs, logger };
  const tasks = createServiceClient({ ...calls, audience: 'tasks', baseUrl: config.TASKS_URL });
  const images = createServiceClient({ ...calls, audience: 'images', baseUrl: config.IMAGES_URL });

  const settings = {
    retentionDays: config.RETENTION_DAYS,
    endPatienceMs: config.END_PATIENCE_MS,
    framePatienceMs: config.FRAME_PATIENCE_MS,
    auditAgeMs: config.AUDIT_AGE_MS,
  };
  const deps: Deps = {
    db,
    signals: createSignals(logger),
    taskOwners: createTaskOwners(tasks, images),
    partitions: createPartitionKeeper(db, settings.retentionDays),
    cursors: cursorCodec(config.CURSOR_KEYS),
    wakeRelay: relay.wake,
    settings,
  };
  const background = createBackground(deps, config, { kafka, producer, relay, onFatal });

  const access = createServiceAccess({ callee: 'results', publicKeys, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT });
  const answerHealth = healthListener({ ready: schemaReadiness(db, migrations), live: background.isAlive });
  const health = createHttpServer(answerHealth, { host, port: config.HEALTH_PORT });

  const graceMs = config.SHUTDOWN_GRACE_MS;
  return {
    get port() {
      return server.port;
    },
    get healthPort() {
      return health.port;
    },
    consumers: background.consumers,
    start: async () => {
      await health.start();
      await server.start();
      background.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: graceMs, stop: () => server.stop(graceMs - 1_000) },
      { name: 'background', timeoutMs: 15_000, stop: background.stop },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      { name: 'database', timeoutMs: 5_000, stop: () => db.destroy() },
    ],
  };
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'results', migrations);
