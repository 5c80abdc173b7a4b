import type { Knex } from 'knex';
import { createDb } from '@vision/shared/db/knex';
import { migrateOnce } from '@vision/shared/db/migrate';
import { createTokenSigner } from '@vision/shared/http/service-token';
import type { TokenSigner } from '@vision/shared/http/service-token';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import { createFailureThrottle } from './clients/failure-throttle.ts';
import { createForwarder } from './clients/forward.ts';
import type { Forwarder } from './clients/forward.ts';
import { createOwners } from './clients/owners.ts';
import { createProcessorBudgets } from './clients/processor-budgets.ts';
import { createRateLimiter } from './clients/rate-limiter.ts';
import { createRedisGuard } from './clients/redis.ts';
import type { RedisGuard } from './clients/redis.ts';
import { createSlots } from './clients/slots.ts';
import { budgetLimits, ownerUrls } from './config.ts';
import type { Config } from './config.ts';
import { createFindKey } from './db/find-key.ts';
import { createKeyCache } from './db/key-cache.ts';
import { migrations } from './db/migrations/list.ts';
import { parseTrusted } from './domain/client-network.ts';
import { maskKeys } from './domain/mask-keys.ts';
import { createServers } from './servers.ts';
import { createSignals } from './signals.ts';
import type { Deps } from './use-cases/deps.ts';
import { createKeyUse } from './use-cases/note-key-use.ts';
import { createSettingsWatch } from './use-cases/watch-settings.ts';

export interface GatewayService extends RunningService {
  /** Known after `start`, as the other ports. */
  readonly port: number;
  readonly adminPort: number;
  readonly healthPort: number;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, context: ServiceContext): Promise<GatewayService> {
  // A caller may put its key anywhere in a path or a header that is logged.
  const logger = context.logger.child({}, { serializers: { path: maskKeys, requestId: maskKeys } });
  const signals = createSignals(logger);
  const db = openDatabase(config);
  const redis = createRedisGuard({
    url: config.REDIS_URL,
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
  const servers = createServers(config, deps);
  const graceMs = Math.max(1000, config.SHUTDOWN_GRACE_MS - 5000);
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
      for (const part of [redis, deps.slots, deps.watch]) part.start();
      for (const server of [servers.health, servers.admin, servers.public]) await server.start();
    },
    stopPhases: [
      {
        name: 'http',
        timeoutMs: graceMs + 1000,
        stop: async () => {
          await Promise.all([servers.public.stop(graceMs), servers.admin.stop(graceMs)]);
        },
      },
      {
        name: 'background',
        timeoutMs: 3000,
        stop: async () => {
          await Promise.all([deps.slots.stop(), deps.watch.stop()]);
          forwarder.stop();
          redis.stop();
        },
      },
      { name: 'health', timeoutMs: 2000, stop: () => servers.health.stop(1000) },
      { name: 'database', timeoutMs: 5000, stop: () => db.destroy() },
    ],
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
    keyUse: createKeyUse({ db, peppers, logger }),
    throttle: createFailureThrottle(config.AUTH_FAILURES_PER_MINUTE),
    adminThrottle: createFailureThrottle(config.ADMIN_FAILURES_PER_MINUTE),
    limiter: createRateLimiter(redis),
    processorBudgets: createProcessorBudgets(redis, budgetLimits(config)),
    slots: createSlots({ redis, leaseMs: config.SLOT_LEASE_MS, logger }),
    watch: createSettingsWatch({ db, keyCache, logger, intervalMs: config.SETTINGS_POLL_MS }),
    owners: createOwners(ownerUrls(config), { signer, timeoutMs, logger }),
    forward: forwarder.forward,
    settings: { openapiFile: config.OPENAPI_FILE, isTrustedProxy: parseTrusted(config.TRUSTED_PROXIES) },
  };
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'gateway', migrations);

function openDatabase({ DATABASE_URL: url, DATABASE_POOL: poolMax }: Config): Knex {
  return createDb({ url, poolMax, applicationName: 'gateway', statementTimeoutMs: 3000, acquireTimeoutMs: 3000 });
}
