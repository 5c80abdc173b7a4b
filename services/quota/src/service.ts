import { createPoller } from '@vision/shared/async/poller';
import { createAuditor } from '@vision/shared/audit/auditor';
import { topics } from '@vision/contracts/topics';
import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { databaseCheck } from '@vision/shared/db/migrate';
import { standbyCheck } from '@vision/shared/db/standby-check';
import { createApp } from '@vision/shared/http/app';
import { createHealth } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createConsumer } from '@vision/kafka/consumer';
import type { EventConsumer } from '@vision/kafka/consumer';
import { createKafka } from '@vision/kafka/kafka';
import { kafkaCheck } from '@vision/kafka/kafka-check';
import { kafkaConnection } from '@vision/kafka/kafka-config';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { stopPhases } from '@vision/shared/stop-times';
import { createCensus } from '@vision/shared/async/census';
import { stopTimesOf } from './config.ts';
import type { Config } from './config.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { migrations } from './db/migrations/list.ts';
import { countOpenReservations } from './db/open-reservations.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createStatus } from './status.ts';
import { auditsOf } from './use-cases/audits.ts';
import type { Deps } from './use-cases/deps.ts';
import { runRetention } from './use-cases/run-retention.ts';

export interface QuotaService extends RunningService {
  /** Known after `start`, as is the other port. */
  readonly port: number;
  readonly healthPort: number;
  consumer: EventConsumer;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<QuotaService> {
  const { HOST: host, KEEP_ALIVE_MS: keepAliveMs, CLOCK_OFFSET: clockOffset } = config;
  const database = databaseConnection(config);
  const db = createDb({ ...database, applicationName: 'quota', clockOffset });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'quota', logger });

  const settings = settingsOf(config);
  const deps: Deps = { db, signals: createSignals(logger), status: createStatus({ db, kafka }), settings };
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

  const { census } = deps.signals;
  const counts = createCensus({ name: 'census', ask: () => countOpenReservations(db), show: census, logger });
  const auditor = createAuditor({ db, logger, audits: auditsOf(deps), config });

  const access = createServiceAccess({ callee: 'quota', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT, keepAliveMs });
  const checks = [
    databaseCheck(db, database, migrations),
    standbyCheck(db, config),
    kafkaCheck(config, { consumes: [topics.tasks, topics.images], publishes: [] }),
  ];
  const live = consumer.isAlive;
  const health = createHealth({ host, port: config.HEALTH_PORT, logger, checks, live, listeners: [server] });

  const stopBackground = async () => {
    await Promise.all([consumer.stop(10_000), retention.stop(), counts.stop(), auditor.stop()]);
  };
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
      counts.start();
      auditor.start();
    },
    stopPhases: stopPhases(stopTimesOf(config), {
      drain: health.drain,
      http: server.stop,
      background: stopBackground,
      health: health.stop,
      database: () => db.destroy(),
    }),
  };
}

const settingsOf = (config: Config): Deps['settings'] => ({
  retentionDays: config.LEDGER_RETENTION_DAYS,
  retentionBatch: config.RETENTION_BATCH,
  auditAgeMs: config.AUDIT_AGE_MS,
});
