import { createPoller } from '@vision/shared/async/poller';
import { createAuditor } from '@vision/shared/audit/auditor';
import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createConsumer } from '@vision/shared/messaging/consumer';
import type { EventConsumer } from '@vision/shared/messaging/consumer';
import { createKafka } from '@vision/shared/messaging/kafka';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import type { Config } from './config.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { migrations } from './db/migrations/list.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { auditCounters } from './use-cases/audit-counters.ts';
import type { Deps } from './use-cases/deps.ts';
import { runRetention } from './use-cases/run-retention.ts';

export interface QuotaService extends RunningService {
  /** Known after `start`, as the other port. */
  readonly port: number;
  readonly healthPort: number;
  consumer: EventConsumer;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<QuotaService> {
  const { HOST: host, DATABASE_URL: url, DATABASE_POOL: poolMax, CLOCK_OFFSET: clockOffset } = config;
  const db = createDb({ url, poolMax, applicationName: 'quota', clockOffset });
  const { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix } = config;
  const kafka = createKafka({ brokers, clientId: 'quota', logger, topicPrefix });

  const deps: Deps = {
    db,
    signals: createSignals(logger),
    settings: {
      retentionDays: config.LEDGER_RETENTION_DAYS,
      retentionBatch: config.RETENTION_BATCH,
      auditAgeMs: config.AUDIT_AGE_MS,
    },
  };
  const consumer = createConsumer({ db, kafka, groupId: 'quota', subscriptions: subscriptions(deps), onFatal });
  const retention = createPoller({
    name: 'ledger-retention',
    intervalMs: config.RETENTION_INTERVAL_MS,
    logger,
    run: async () => {
      await runRetention(deps);
      return 0;
    },
  });

  const auditor = createAuditor({ db, logger, audits: [auditCounters(deps)], config });

  const access = createServiceAccess({ callee: 'quota', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT });
  const answerHealth = healthListener({ ready: schemaReadiness(db, migrations), live: consumer.isAlive });
  const health = createHttpServer(answerHealth, { host, port: config.HEALTH_PORT });

  const stopBackground = async () => {
    await Promise.all([consumer.stop(10_000), retention.stop(), auditor.stop()]);
  };
  const graceMs = config.SHUTDOWN_GRACE_MS;
  return {
    get port() {
      return server.port;
    },
    get healthPort() {
      return health.port;
    },
    consumer,
    start: async () => {
      await health.start();
      await server.start();
      consumer.start();
      retention.start();
      auditor.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: graceMs, stop: () => server.stop(graceMs - 1_000) },
      { name: 'background', timeoutMs: 15_000, stop: stopBackground },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      { name: 'database', timeoutMs: 5_000, stop: () => db.destroy() },
    ],
  };
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> => migrateOnce(config.DATABASE_URL, 'quota', migrations);
