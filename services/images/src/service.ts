import { createGate } from '@vision/shared/async/gate';
import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createRelay } from '@vision/shared/messaging/relay';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import { createBackground } from './background.ts';
import { createClients } from './clients.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import type { Deps, Settings } from './use-cases/deps.ts';

export interface ImagesService extends RunningService {
  /** Known after `start`, as the other port. */
  readonly port: number;
  readonly healthPort: number;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<ImagesService> {
  const { HOST: host, DATABASE_URL: url, DATABASE_POOL: poolMax, CLOCK_OFFSET: clockOffset } = config;
  const db = createDb({ url, poolMax, applicationName: 'images', clockOffset });
  const { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix } = config;
  const producer = createProducer(createKafka({ brokers, clientId: 'images', logger, topicPrefix }));
  const relay = createRelay({ db, producer, logger });
  const clients = createClients(config, logger);

  const deps: Deps = {
    ...clients,
    db,
    signals: createSignals(logger),
    scenes: loadScenes(config.SCENES_FILE),
    callGate: createGate({ concurrency: config.MAX_CALLS, queue: 0, leavesRoom: true }),
    imageGate: createGate({ concurrency: config.IMAGES_AT_ONCE, leavesRoom: true }),
    wakeRelay: relay.wake,
    settings: settingsOf(config),
  };
  const background = createBackground(deps, config, { producer, relay, logger });

  const access = createServiceAccess({ callee: 'images', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT });
  const answerHealth = healthListener({ ready: schemaReadiness(db, migrations) });
  const health = createHttpServer(answerHealth, { host, port: config.HEALTH_PORT });

  const closeClients = async () => {
    clients.inference.close();
    clients.store.close();
    await Promise.all([db.destroy(), clients.spool.remove()]);
  };
  const graceMs = config.SHUTDOWN_GRACE_MS;
  return {
    get port() {
      return server.port;
    },
    get healthPort() {
      return health.port;
    },
    start: async () => {
      await clients.spool.prepare();
      await health.start();
      await server.start();
      background.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: graceMs, stop: () => server.stop(graceMs - 1_000) },
      // Calls whose client has left are finished too.
      { name: 'calls', timeoutMs: 10_000, stop: deps.callGate.idle },
      { name: 'background', timeoutMs: 15_000, stop: background.stop },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      { name: 'clients', timeoutMs: 5_000, stop: closeClients },
    ],
  };
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'images', migrations);

const settingsOf = (config: Config): Settings => ({
  imagesPerCallAtOnce: config.IMAGES_PER_CALL_AT_ONCE,
  callMs: config.CALL_TIMEOUT_MS,
  detectMs: config.DETECT_TIMEOUT_MS,
  leaseMs: config.LEASE_MS,
  keyWaitMs: config.KEY_WAIT_MS,
  bodyIdleMs: config.BODY_IDLE_MS,
  bodyTotalMs: config.BODY_TOTAL_MS,
  retentionDays: config.RETENTION_DAYS,
  orphanAgeMs: config.ORPHAN_AGE_MS,
  auditAgeMs: config.AUDIT_AGE_MS,
});
