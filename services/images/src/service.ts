import type { Knex } from 'knex';
import { createGate } from '@vision/shared/async/gate';
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
import { createOwnPrefix } from '@vision/objects/own-prefix';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { stopPhases } from '@vision/shared/stop-times';
import { loadScenes } from '@vision/shared/scenes';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { createBackground } from './background.ts';
import { createClients } from './clients.ts';
import { stopTimesOf } from './config.ts';
import type { Config } from './config.ts';
import { createSpeculation } from './domain/speculation.ts';
import { migrations } from './db/migrations/list.ts';
import { PICTURE_PREFIX } from './domain/picture-key.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createStatus } from './status.ts';
import { PICTURES } from './use-cases/sweep-orphan-pictures.ts';
import type { Deps, Settings } from './use-cases/deps.ts';

export interface ImagesService extends RunningService {
  /** Known after `start`, like the other port. */
  readonly port: number;
  readonly healthPort: number;
}

const HOUR_MS = 60 * 60 * 1000;
/** No caller waits for the events of calls: they fill the history and, after crashes, settle the charge. */
const GATHER_MS = 200;

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<ImagesService> {
  const { HOST: host, KEEP_ALIVE_MS: keepAliveMs, CLOCK_OFFSET: clockOffset } = config;
  const db = createDb({ ...databaseConnection(config), applicationName: 'images', clockOffset });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'images', logger });
  const producer = createProducer(kafka);
  const keepPublishedMs = config.OUTBOX_KEEP_HOURS * HOUR_MS;
  const relay = createRelay({ db, producer, logger, intervalMs: IDLE_POLL_MS, keepPublishedMs, gatherMs: GATHER_MS });
  const clients = createClients(config, logger);
  const loops = createTaskLoops(logger, ['recovery']);

  const deps: Deps = {
    ...clients,
    db,
    logger,
    signals: createSignals(logger),
    loops,
    ownPrefix: createOwnPrefix({ db, name: PICTURES, prefix: PICTURE_PREFIX }),
    scenes: loadScenes(config.SCENES_FILE),
    ...gatesOf(config),
    wakeRelay: relay.wake,
    producer,
    kafka,
    status: createStatus(config, { ...clients, db, kafka, relay, logger, loops }),
    settings: settingsOf(config),
  };
  const background = createBackground(deps, config, { producer, relay, logger });
  deps.signals.observeSlots({ calls: deps.callGate.load, most: config.MAX_CALLS, spoolBytes: clients.spool.bytes });

  const access = createServiceAccess({ callee: 'images', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT, keepAliveMs });
  const checks = checksOf(config, db);
  const health = createHealth({ host, port: config.HEALTH_PORT, logger, checks, listeners: [server] });

  const closeClients = async () => {
    clients.inference.close();
    clients.store.close();
    await Promise.all([db.destroy(), clients.spool.remove()]);
  };
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
    stopPhases: stopPhases(stopTimesOf(config), {
      drain: health.drain,
      http: server.stop,
      // Calls whose client has disconnected are completed too.
      calls: deps.callGate.idle,
      background: background.stop,
      health: health.stop,
      clients: closeClients,
    }),
  };
}

const checksOf = (config: Config, db: Knex): StartCheck[] => [
  databaseCheck(db, databaseConnection(config), migrations),
  standbyCheck(db, config),
  kafkaCheck(config, { consumes: [], publishes: [topics.images] }),
  bucketCheck(objectStoreOptions(config), ['read', 'write', 'list', 'remove'], [PICTURES]),
];

const gatesOf = (config: Config): Pick<Deps, 'callGate' | 'imageGate' | 'speculation'> => ({
  callGate: createGate({ concurrency: config.MAX_CALLS, queue: 0, leavesRoom: true }),
  imageGate: createGate({ concurrency: config.IMAGES_AT_ONCE, leavesRoom: true }),
  speculation: createSpeculation({ slots: config.HEAD_STARTS }),
});
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
  fullSweepMs: config.FULL_SWEEP_INTERVAL_MS,
  sweepGraceMs: config.SWEEP_GRACE_MS,
  auditAgeMs: config.AUDIT_AGE_MS,
});
