import type { Knex } from 'knex';
import { createWakeUp } from '@vision/shared/async/wake-up';
import { createGate } from '@vision/shared/async/gate';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { topics } from '@vision/contracts/topics';
import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import { databaseCheck } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { createHealth } from '@vision/shared/http/health';
import type { Health } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { HttpServer } from '@vision/shared/http/server';
import { createOpenStreams } from '@vision/shared/http/open-streams';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createServiceClient } from '@vision/shared/http/service-client';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { createArrivals } from '@vision/kafka/arrivals';
import { createKafka } from '@vision/kafka/kafka';
import type { KafkaClient } from '@vision/kafka/kafka';
import { kafkaCheck } from '@vision/kafka/kafka-check';
import { kafkaConnection } from '@vision/kafka/kafka-config';
import { createProducer } from '@vision/kafka/producer';
import { createRelay } from '@vision/kafka/relay';
import { checkBucket } from '@vision/objects/check-bucket';
import type { Logger } from '@vision/shared/logger';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { stopPhases } from '@vision/shared/stop-times';
import { createBackground } from './background.ts';
import type { Background } from './background.ts';
import { createSegmentStore } from './clients/segment-store.ts';
import { createTaskOwners } from './clients/task-owners.ts';
import { stopTimesOf, storeOptionsOf } from './config.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { cursorCodec } from './domain/cursor.ts';
import { trackCursorCodec } from './domain/track-cursor.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createStatus } from './status.ts';
import type { Deps } from './use-cases/deps.ts';
import { createLiveRules } from './use-cases/fold/evaluate-stored.ts';
import { createRuleBook } from './use-cases/rules/rule-book.ts';
import { ownSegmentPrefix, SEGMENTS } from './use-cases/retain/owned-segments.ts';
import { createPartitionKeeper } from './use-cases/retain/keep-partitions.ts';
import { createTaskWatch } from './use-cases/read/watch-tasks.ts';

export interface ResultsService extends RunningService {
  /** Known after `start`, as is the other port. */
  readonly port: number;
  readonly healthPort: number;
  consumers: Background['consumers'];
}

const HOUR_MS = 60 * 60 * 1000;
/** Backtests are queued fairly by subject, because the same process stores frames. */
const BACKTESTS_AT_ONCE = 2;
/** Timelines are queued too, and one subject cannot take all slots. */
const TIMELINES_AT_ONCE = 2;
/** A stream that searches stored frames reads page after page: its pages are queued fairly with those of others. */
const SEARCHES_AT_ONCE = 2;

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger, onFatal }: ServiceContext): Promise<ResultsService> {
  const { HOST: host, KEEP_ALIVE_MS: keepAliveMs, CLOCK_OFFSET: clockOffset } = config;
  const db = createDb({ ...databaseConnection(config), applicationName: 'results', clockOffset });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'results', logger });
  const producer = createProducer(kafka);
  const keepPublishedMs = config.OUTBOX_KEEP_HOURS * HOUR_MS;
  const relay = createRelay({ db, producer, logger, intervalMs: IDLE_POLL_MS, keepPublishedMs });
  const { tasks, images } = neighboursOf(config, logger);

  const signals = createSignals(logger);
  const loops = createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);
  const foldWakeUp = createWakeUp();
  const folding = {
    ...ruleParts(db, kafka),
    db,
    loops,
    signals,
    partitions: createPartitionKeeper(db, config.RETENTION_DAYS),
    store: createSegmentStore(storeOptionsOf(config)),
    wakeRelay: relay.wake,
    settings: settingsOf(config),
  };
  const deps: Deps = {
    ...folding,
    logger,
    liveRules: createLiveRules(folding),
    ownPrefix: ownSegmentPrefix({ db }),
    taskOwners: createTaskOwners(tasks, images),
    ...cursorsOf(config),
    wakeFold: foldWakeUp.wake,
    watch: createTaskWatch({ db, logger, endPatienceMs: config.END_PATIENCE_MS }),
    streams: createOpenStreams(),
    ...gates(),
    producer,
    kafka,
    status: createStatus({ db, kafka, relay, tasks, images, loops }),
  };
  const background = createBackground(deps, config, { kafka, producer, relay, foldWakeUp, onFatal });

  const access = createServiceAccess({ callee: 'results', publicKeys: config.SERVICE_PUBLIC_KEYS, logger });
  const app = createApp({ routes: routes(deps), ...access, logger });
  const server = createHttpServer(app, { host, port: config.PORT, keepAliveMs });
  const probes = { checks: checksOf(config, db), live: background.isAlive, listeners: [server] };
  const health = createHealth({ host, port: config.HEALTH_PORT, logger, ...probes });

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
      deps.watch.start();
    },
    stopPhases: stopsOf(config, { deps, background, server, health }),
  };
}

/** Limits of long work for callers. */
const gates = () => ({
  backtests: createGate({ concurrency: BACKTESTS_AT_ONCE }),
  searches: createGate({ concurrency: SEARCHES_AT_ONCE, leavesRoom: true }),
  timelines: createGate({ concurrency: TIMELINES_AT_ONCE, leavesRoom: true }),
});

/** Clients of the services that know the owner of a task. */
function neighboursOf(config: Config, logger: Logger) {
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys, SERVICE_TIMEOUT_MS: timeoutMs } = config;
  const calls = { signer: createTokenSigner({ issuer: 'results', key, publicKeys }), timeoutMs, logger };
  return {
    tasks: createServiceClient({ ...calls, audience: 'tasks', baseUrl: config.TASKS_URL }),
    images: createServiceClient({ ...calls, audience: 'images', baseUrl: config.IMAGES_URL }),
  };
}

const cursorsOf = ({ CURSOR_KEYS: keys }: Config) => ({
  cursors: cursorCodec(keys),
  trackCursors: trackCursorCodec(keys),
  sourceCursors: cursorCodec(keys, 'vision source cursor v1'),
});

/** Minimum time between two queries of Kafka for the ends of its partitions. */
const ARRIVALS_MS = 1_000;

/** Parts that the evaluation of alarm rules needs. */
const ruleParts = (db: Knex, kafka: KafkaClient) => ({
  rules: createRuleBook(db),
  arrivals: createArrivals({ db, kafka, groupId: 'results-frames', topic: topics.frames, everyMs: ARRIVALS_MS }),
});

interface Parts {
  deps: Deps;
  background: Background;
  server: HttpServer;
  health: Health;
}

const stopsOf = (config: Config, { deps, background, server, health }: Parts) =>
  stopPhases(stopTimesOf(config), {
    drain: health.drain,
    http: (waitMs) => {
      deps.streams.end();
      return server.stop(waitMs);
    },
    background: async () => {
      await Promise.all([background.stop(), deps.watch.stop()]);
    },
    health: health.stop,
    database: () => closeStores(deps),
  });

const checksOf = (config: Config, db: Knex): StartCheck[] => [
  databaseCheck(db, databaseConnection(config), migrations),
  kafkaCheck(config, {
    consumes: [topics.tasks, topics.frames, topics.jobs, topics.rules],
    publishes: [topics.results, topics.alarms],
  }),
  {
    name: 'bucket',
    readyWhileAway: true,
    ask: () => checkBucket(storeOptionsOf(config), ['read', 'write', 'list', 'remove'], [SEGMENTS]),
  },
];

async function closeStores({ db, store }: Pick<Deps, 'db' | 'store'>): Promise<void> {
  store.close();
  await db.destroy();
}

const settingsOf = (config: Config): Deps['settings'] => ({
  retentionDays: config.RETENTION_DAYS,
  snapshotDays: config.SNAPSHOT_DAYS,
  orphanAgeMs: config.ORPHAN_AGE_MS,
  fullSweepMs: config.FULL_SWEEP_INTERVAL_MS,
  sweepGraceMs: config.SWEEP_GRACE_MS,
  endPatienceMs: config.END_PATIENCE_MS,
  framePatienceMs: config.FRAME_PATIENCE_MS,
  auditAgeMs: config.AUDIT_AGE_MS,
  hotMs: config.SEGMENT_YOUNG_MS,
});
