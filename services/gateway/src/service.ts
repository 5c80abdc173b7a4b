import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { databaseCheck } from '@vision/shared/db/migrate';
import { standbyCheck } from '@vision/shared/db/standby-check';
import { createOpenStreams } from '@vision/shared/http/open-streams';
import { createTokenSigner } from '@vision/shared/http/service-token';
import type { TokenSigner } from '@vision/shared/http/service-token';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { stopPhases } from '@vision/shared/stop-times';
import { loadScenes } from '@vision/shared/scenes';
import { createSecretBox } from '@vision/shared/secret-box';
import { askDatabase } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import { createFailureThrottle } from './clients/failure-throttle.ts';
import { createForwarder } from './clients/forward.ts';
import type { Forwarder } from './clients/forward.ts';
import { createOwners } from './clients/owners.ts';
import { createProcessorBudgets } from './clients/processor-budgets.ts';
import { createRateLimiter } from './clients/rate-limiter.ts';
import { createRedisGuard } from './clients/redis.ts';
import type { RedisGuard } from './clients/redis.ts';
import { createReplicas } from './clients/replicas.ts';
import { createSlots } from './clients/slots.ts';
import { budgetLimits, ownerUrls, replicaUrls, stopTimesOf } from './config.ts';
import type { Config } from './config.ts';
import { createFindKey } from './db/find-key.ts';
import { createKeyCache } from './db/key-cache.ts';
import { migrations } from './db/migrations/list.ts';
import { parseTrusted } from './domain/client-network.ts';
import { createConsoleCodes } from './domain/console-codes.ts';
import { maskKeys } from './domain/mask-keys.ts';
import { redisConnection } from './redis-config.ts';
import { createServers } from './servers.ts';
import { createSignals } from './signals.ts';
import type { Deps } from './use-cases/deps.ts';
import { createWebhookEnds } from './use-cases/end-webhooks.ts';
import { createKeyUse } from './use-cases/note-key-use.ts';
import { createSettingsWatch } from './use-cases/watch-settings.ts';

export interface GatewayService extends RunningService {
  /** Known after `start`, as are the other ports. */
  readonly port: number;
  readonly adminPort: number;
  readonly healthPort: number;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, context: ServiceContext): Promise<GatewayService> {
  // A caller may put its key anywhere in a path or a header that is logged.
  const logger = context.logger.child({}, { serializers: { path: maskKeys, request_id: maskKeys } });
  const signals = createSignals(logger);
  const database = databaseConnection(config);
  const db = createDb({ ...database, ...DATABASE_LIMITS });
  const redis = createRedisGuard({
    connection: redisConnection(config),
    timeoutMs: config.REDIS_TIMEOUT_MS,
    cooldownMs: config.REDIS_COOLDOWN_MS,
    signals,
  });
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys } = config;
  const signer = createTokenSigner({ issuer: 'gateway', key, publicKeys });
  const forwarder = createForwarder({
    urls: ownerUrls(config),
    signer,
    connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
    idleMs: config.UPSTREAM_IDLE_MS,
    readIdleMs: config.UPSTREAM_READ_MS,
  });
  const deps = createDeps(config, { db, logger, signals, redis, forwarder, signer });
  const webhookEnds = createWebhookEnds({ ...deps, intervalMs: config.WEBHOOK_KEYS_POLL_MS });
  const checks = [databaseCheck(db, database, migrations), standbyCheck(db, config), redis.check];
  const servers = createServers(config, deps, checks);
  return {
    get port() {
      return servers.public.port;
    },
    get adminPort() {
      return servers.admin.port;
    },
    get healthPort() {
      return servers.health.port;
    },
    start: async () => {
      for (const part of [redis, deps.slots, deps.watch, webhookEnds]) part.start();
      for (const server of [servers.health, servers.admin, servers.public]) await server.start();
    },
    stopPhases: stopPhases(stopTimesOf(config), {
      drain: servers.health.drain,
      http: async (waitMs) => {
        deps.streams.end();
        await Promise.all([servers.public.stop(waitMs), servers.admin.stop(waitMs)]);
      },
      background: async () => {
        await Promise.all([deps.slots.stop(), deps.watch.stop(), webhookEnds.stop()]);
        forwarder.stop();
        redis.stop();
      },
      health: servers.health.stop,
      database: () => db.destroy(),
    }),
  };
}

interface Connections extends Pick<Deps, 'db' | 'logger' | 'signals'> {
  redis: RedisGuard;
  forwarder: Forwarder;
  signer: TokenSigner;
}

function createDeps(config: Config, { db, logger, signals, redis, forwarder, signer }: Connections): Deps {
  const { API_KEY_PEPPERS: peppers, ADMIN_CALL_TIMEOUT_MS: timeoutMs } = config;
  const keyCache = createKeyCache({ findKey: createFindKey(db), freshMs: config.KEY_CACHE_MS });
  return {
    db,
    logger,
    signals,
    scenes: loadScenes(config.SCENES_FILE),
    peppers,
    keyCache,
    consoleCodes: config.CONSOLE_ONE_TIME ? createConsoleCodes() : undefined,
    linkBox: config.LINK_KEYS && createSecretBox(config.LINK_KEYS),
    keyUse: createKeyUse({ db, peppers, logger }),
    throttle: createFailureThrottle(config.AUTH_FAILURES_PER_MINUTE),
    adminThrottle: createFailureThrottle(config.ADMIN_FAILURES_PER_MINUTE),
    limiter: createRateLimiter(redis),
    processorBudgets: createProcessorBudgets(redis, budgetLimits(config)),
    slots: createSlots({ redis, leaseMs: config.SLOT_LEASE_MS, logger }),
    watch: createSettingsWatch({ db, keyCache, logger, intervalMs: config.SETTINGS_POLL_MS }),
    owners: createOwners(ownerUrls(config), { signer, timeoutMs, logger }),
    replicas: createReplicas(replicaUrls(config), { signer, logger }),
    status: createStatusReader({
      service: 'gateway',
      checks: { database: askDatabase(db, migrations), redis: redis.ping },
    }),
    streams: createOpenStreams(),
    forward: forwarder.forward,
    settings: {
      openapiFile: config.OPENAPI_FILE,
      isTrustedProxy: parseTrusted(config.TRUSTED_PROXIES),
      keyCheckMs: config.KEY_CACHE_MS,
      snapshotsDefault: config.SNAPSHOTS_DEFAULT,
    },
  };
}

/** A request waits for its key, so this database has to answer quickly. */
const DATABASE_LIMITS = { applicationName: 'gateway', statementTimeoutMs: 3000, acquireTimeoutMs: 3000 };
