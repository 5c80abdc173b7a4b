import type { Knex } from 'knex';
import { topics } from '@vision/contracts/topics';
import { createWakeUp } from '@vision/shared/async/wake-up';
import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import { databaseCheck } from '@vision/shared/db/migrate';
import { standbyCheck } from '@vision/shared/db/standby-check';
import { createApp } from '@vision/shared/http/app';
import { createHealth } from '@vision/shared/http/health';
import { createOpenStreams } from '@vision/shared/http/open-streams';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createConsumer } from '@vision/kafka/consumer';
import type { EventConsumer } from '@vision/kafka/consumer';
import { createKafka } from '@vision/kafka/kafka';
import { kafkaCheck } from '@vision/kafka/kafka-check';
import { kafkaConnection } from '@vision/kafka/kafka-config';
import { createProducer } from '@vision/kafka/producer';
import { createRelay } from '@vision/kafka/relay';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { stopPhases } from '@vision/shared/stop-times';
import { createBackground, createWebhookTools } from './background.ts';
import { stopTimesOf } from './config.ts';
import type { Config } from './config.ts';
import { subscriptions } from './consumers/subscriptions.ts';
import { migrations } from './db/migrations/list.ts';
import { RULE_CHANGES_PER_MINUTE } from './domain/alarm-rule.ts';
import { ALARM_CURSORS, eventCursorCodec } from './domain/cursor.ts';
import { deliveryCursorCodec } from './domain/delivery-query.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createStatus } from './status.ts';
import { createBusyCounts } from './use-cases/webhooks/busy-counts.ts';
import type { Deps } from './use-cases/deps.ts';
import { createRuleChanges } from './use-cases/rules/rule-changes.ts';
import { createLogWatch } from './use-cases/log/watch-logs.ts';

export interface NotifyService extends RunningService {
  /** Known after `start`, as is the other port. */
  readonly port: number;
  readonly healthPort: number;
  consumer: EventConsumer;
}

const HOUR_MS = 60 * 60 * 1000;

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<NotifyService> {
  const { HOST: host, KEEP_ALIVE_MS: keepAliveMs, CLOCK_OFFSET: clockOffset } = config;
  const database = databaseConnection(config);
  const db = createDb({ ...database, applicationName: 'notify', clockOffset });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'notify', logger });

  const producer = createProducer(kafka);
  const relay = createRelay({ db, producer, logger, intervalMs: IDLE_POLL_MS, keepPublishedMs: keptMs(config) });
  const [webhookWakeUp, mqttWakeUp, busy] = [createWakeUp(), createWakeUp(), createBusyCounts()];

  const deps: Deps = {
    db,
    signals: createSignals(logger),
    ...codecsOf(config),
    ...heldHere(db, logger),
    wakeRelay: relay.wake,
    producer,
    status: createStatus({ db, kafka, relay, busy }),
    busy,
    webhooks: createWebhookTools(config),
    wakeWebhooks: webhookWakeUp.wake,
    wakeMqtt: mqttWakeUp.wake,
    settings: { eventDays: config.EVENT_DAYS, retentionBatch: config.RETENTION_BATCH },
  };
  const reading = { db, kafka, onFatal, rebuilds: true };
  const consumer = createConsumer({ ...reading, groupId: 'notify', subscriptions: subscriptions(deps) });
  const background = createBackground(deps, { config, logger, relay, webhookWakeUp, mqttWakeUp });

  const access = createServiceAccess({ callee: 'notify', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT, keepAliveMs });
  const parts = { checks: startChecks(db, config), live: consumer.isAlive, listeners: [server] };
  const health = createHealth({ host, port: config.HEALTH_PORT, logger, ...parts });

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
      for (const part of [relay, consumer, background]) part.start();
    },
    stopPhases: stopPhases(stopTimesOf(config), {
      drain: health.drain,
      http: (waitMs) => {
        deps.streams.end();
        return server.stop(waitMs);
      },
      background: async () => {
        await Promise.all([consumer.stop(10_000), background.stop()]);
        await relay.stop();
        await producer.stop();
      },
      health: health.stop,
      database: () => db.destroy(),
    }),
  };
}

/** State of this process alone. */
const heldHere = (db: Knex, logger: ServiceContext['logger']) => ({
  watch: createLogWatch({ db, logger }),
  streams: createOpenStreams(),
  ruleChanges: createRuleChanges(RULE_CHANGES_PER_MINUTE),
});

const codecsOf = ({ CURSOR_KEYS: keys }: Config) => ({
  cursors: eventCursorCodec(keys),
  alarmCursors: eventCursorCodec(keys, ALARM_CURSORS),
  deliveryCursors: deliveryCursorCodec(keys),
});

const keptMs = ({ OUTBOX_KEEP_HOURS: hours }: Config): number => hours * HOUR_MS;

const startChecks = (db: Knex, config: Config) => [
  databaseCheck(db, databaseConnection(config), migrations),
  standbyCheck(db, config),
  kafkaCheck(config, { consumes: [topics.tasks, topics.alarms], publishes: [topics.rules] }),
];
