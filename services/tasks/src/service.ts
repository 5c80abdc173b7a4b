import type { Knex } from 'knex';
import { createWakeUp } from '@vision/shared/async/wake-up';
import { joinedByKey } from './domain/joined-by-key.ts';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { topics } from '@vision/contracts/topics';
import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import { databaseCheck } from '@vision/shared/db/migrate';
import { standbyCheck } from '@vision/shared/db/standby-check';
import { createApp } from '@vision/shared/http/app';
import { createHealth } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createKafka } from '@vision/kafka/kafka';
import { kafkaCheck } from '@vision/kafka/kafka-check';
import { kafkaConnection } from '@vision/kafka/kafka-config';
import { createProducer } from '@vision/kafka/producer';
import { createRelay } from '@vision/kafka/relay';
import { bucketCheck } from '@vision/objects/check-bucket';
import { objectStoreOptions } from '@vision/objects/object-store-config';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { stopPhases } from '@vision/shared/stop-times';
import { loadScenes } from '@vision/shared/scenes';
import { createSecretBox } from '@vision/shared/secret-box';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { createBackground } from './background.ts';
import { createClients } from './clients.ts';
import { stopTimesOf } from './config.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createStatus } from './status.ts';
import { questionLimitMs } from './use-cases/create/answer-time.ts';
import { createAwaitedEnds } from './use-cases/follow/awaited-ends.ts';
import type { Deps, Settings } from './use-cases/deps.ts';
import { refundDeadCreates } from './use-cases/create/roll-back-create.ts';
import { createCapacitySlots } from './use-cases/create/capacity-slots.ts';
import { createProbeLimits } from './use-cases/create/probe-limits.ts';
import { createStopSender } from './use-cases/follow/stop-sender.ts';
import { VIDEOS } from './use-cases/retain/sweep-videos.ts';

export interface TasksService extends RunningService {
  /** Known after `start`, like the other port. */
  readonly port: number;
  readonly healthPort: number;
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * Builds the service from its configuration; nothing is connected or listening before `start`.
 * @param changed constants that tests override and operators do not set
 */
export async function createService(
  config: Config,
  { logger, onFatal }: ServiceContext,
  changed: Partial<Settings> = {},
): Promise<TasksService> {
  const db = createDb({ ...databaseConnection(config), applicationName: 'tasks', clockOffset: config.CLOCK_OFFSET });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'tasks', logger });
  const producer = createProducer(kafka);
  const keepPublishedMs = config.OUTBOX_KEEP_HOURS * HOUR_MS;
  const relay = createRelay({ db, producer, logger, intervalMs: IDLE_POLL_MS, keepPublishedMs });
  const wakeUps = { reconciler: createWakeUp(), slots: createWakeUp() };
  const clients = createClients(config, { db, logger });
  const signals = createSignals(logger);
  const settings = { ...settingsOf(config), ...changed };
  const loops = createTaskLoops(logger, ['readability', 'reconciler', 'recovery']);

  const deps: Deps = {
    ...clients,
    ...createStatus(config, { ...clients, db, kafka, relay, logger, loops }),
    db,
    logger,
    loops,
    awaitedEnds: createAwaitedEnds(),
    stops: createStopSender({ inference: clients.inference, logger }),
    refundDeadCreates: joinedByKey((subject: string) => refundDeadCreates({ db, quota: clients.quota }, subject)),
    signals,
    scenes: loadScenes(config.SCENES_FILE),
    box: createSecretBox(config.STREAM_URL_KEY),
    cursorBox: createSecretBox(config.CURSOR_KEYS),
    probeLimits: createProbeLimits({ atOnce: config.PROBES_AT_ONCE, perMinute: config.PROBES_PER_MINUTE }),
    streamProbeLimits: createProbeLimits({ atOnce: Infinity, perMinute: config.STREAM_PROBES_PER_MINUTE }),
    slots: createCapacitySlots({ ...clients, db, logger, signals, settings, wakeRounds: wakeUps.slots.wake }),
    wakeRelay: relay.wake,
    producer,
    kafka,
    wakeReconciler: wakeUps.reconciler.wake,
    settings,
  };

  const background = createBackground(deps, config, { kafka, producer, relay, wakeUps, onFatal });

  const { server, health } = createServers(config, deps, background.isAlive);

  return {
    get port() {
      return server.port;
    },
    get healthPort() {
      return health.port;
    },
    start: async () => {
      await health.start();
      await server.start();
      background.start();
    },
    stopPhases: stopPhases(stopTimesOf(config), {
      drain: health.drain,
      http: server.stop,
      background: background.stop,
      health: health.stop,
      clients: () => closeClients(clients, db),
    }),
  };
}

function createServers(config: Config, deps: Deps, live: () => boolean) {
  const { db, logger } = deps;
  const { HOST: host, KEEP_ALIVE_MS: keepAliveMs } = config;
  const access = createServiceAccess({ callee: 'tasks', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT, keepAliveMs });
  const checks = checksOf(config, db);
  const health = createHealth({ host, port: config.HEALTH_PORT, logger, checks, live, listeners: [server] });
  return { server, health };
}

const checksOf = (config: Config, db: Knex): StartCheck[] => [
  databaseCheck(db, databaseConnection(config), migrations),
  standbyCheck(db, config),
  kafkaCheck(config, { consumes: [topics.images, topics.results], publishes: [topics.tasks] }),
  bucketCheck(objectStoreOptions(config), ['read', 'write', 'write_parts', 'list', 'remove'], [VIDEOS]),
];

const settingsOf = (config: Config): Settings => ({
  bodyIdleMs: config.BODY_IDLE_MS,
  bodyTotalMs: config.BODY_TOTAL_MS,
  leaseMs: config.LEASE_MS,
  keyWaitMs: config.KEY_WAIT_MS,
  probeTotalMs: config.PROBE_TOTAL_MS,
  probeSnapshots: config.PROBE_SNAPSHOTS,
  stopWaitMs: config.STOP_WAIT_MS,
  submitTimeoutMs: config.SUBMIT_TIMEOUT_MS,
  questionLimitMs: questionLimitMs(config.SUBMIT_TIMEOUT_MS),
  reconcileMs: config.RECONCILE_MS,
  // All jobs lost by a backend must be recorded as missing before the first of them counts as vanished.
  quietReconcileMs: Math.min(config.QUIET_RECONCILE_MS, config.VANISH_MS / 2),
  resolvingReconcileMs: config.RESOLVING_RECONCILE_MS,
  resultsGraceMs: config.RESULTS_GRACE_MS,
  vanishMs: config.VANISH_MS,
  orphanAgeMs: config.ORPHAN_AGE_MS,
  fullSweepMs: config.FULL_SWEEP_INTERVAL_MS,
  sweepGraceMs: config.SWEEP_GRACE_MS,
  retentionDays: config.RETENTION_DAYS,
  retentionBatch: config.RETENTION_BATCH,
  auditAgeMs: config.AUDIT_AGE_MS,
  slotWaitMs: config.PLACE_WAIT_MS,
  slotQueue: config.PLACE_QUEUE,
  slotsKeptPercent: config.PLACES_KEPT_PERCENT,
});

async function closeClients(
  { inference, results, store, videos }: ReturnType<typeof createClients>,
  db: Knex,
): Promise<void> {
  inference.close();
  results?.close();
  store.close();
  videos.close();
  await db.destroy();
}
