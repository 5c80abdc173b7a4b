import { createDb } from '@vision/shared/db/knex';
import { migrateOnce } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { requireStaticToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import { createFailureThrottle } from './clients/failure-throttle.ts';
import { createForward } from './clients/forward.ts';
import { createOwners, ownerUrls } from './clients/owners.ts';
import { createRateLimiter } from './clients/rate-limiter.ts';
import { createRedisGuard } from './clients/redis.ts';
import { createSlots } from './clients/slots.ts';
import type { Config } from './config.ts';
import { createKeyCache } from './db/key-cache.ts';
import { migrations } from './db/migrations/list.ts';
import { maskKeys } from './domain/api-key.ts';
import { accessLog, named } from './http/access-log.ts';
import { adminRoutes } from './http/admin/routes.ts';
import { apiDocs } from './http/api-docs.ts';
import { admit } from './http/authenticate.ts';
import { forwardedRoutes } from './http/forwarded-routes.ts';
import { createPublicServer } from './http/public-server.ts';
import { ownRoutes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import { createUseNotes } from './use-cases/note-key-use.ts';
import { watchSettings } from './use-cases/watch-settings.ts';

export interface GatewayService extends RunningService {
  /** Known after `start`. */
  port: number;
  adminPort: number;
  healthPort: number;
}

/** Builds the service from its configuration; nothing is listening before `start`. */
export async function createService(config: Config, context: ServiceContext): Promise<GatewayService> {
  // A caller may put its key anywhere in a path or a header that is logged.
  const logger = context.logger.child({}, { serializers: { path: maskKeys, requestId: maskKeys } });
  const parts = createParts(config, logger);
  const host = config.HOST;
  const publicServer = createPublicServer(createPublicApp(config, logger, parts), { host, port: config.PORT });
  const adminServer = createHttpServer(createAdminApp(config, logger, parts), { host, port: config.ADMIN_PORT });
  const health = createHttpServer(healthListener({ ready: () => parts.watch.maintenance() !== undefined }), {
    host,
    port: config.HEALTH_PORT,
  });
  const grace = Math.max(1000, config.SHUTDOWN_GRACE_MS - 5000);
  const service: GatewayService = {
    port: config.PORT,
    adminPort: config.ADMIN_PORT,
    healthPort: config.HEALTH_PORT,
    start: async () => {
      parts.watch.start();
      service.healthPort = await health.start();
      service.adminPort = await adminServer.start();
      service.port = await publicServer.start();
    },
    stopPhases: [
      {
        name: 'http',
        timeoutMs: grace + 1000,
        stop: async () => {
          await Promise.all([publicServer.stop(grace), adminServer.stop(grace)]);
        },
      },
      { name: 'background', timeoutMs: 3000, stop: () => stopBackground(parts) },
      { name: 'health', timeoutMs: 2000, stop: () => health.stop(1000) },
      { name: 'database', timeoutMs: 5000, stop: () => parts.db.destroy() },
    ],
  };
  return service;
}

type Logger = ServiceContext['logger'];
type Parts = ReturnType<typeof createParts>;

function createParts(config: Config, logger: Logger) {
  const signals = createSignals(logger);
  const db = createDb({
    url: config.DATABASE_URL,
    poolMax: config.DATABASE_POOL,
    applicationName: 'gateway',
    statementTimeoutMs: 3000,
    acquireTimeoutMs: 3000,
  });
  const cache = createKeyCache({ db, freshMs: config.KEY_CACHE_MS });
  const guard = createRedisGuard({
    url: config.REDIS_URL,
    timeoutMs: config.REDIS_TIMEOUT_MS,
    cooldownMs: config.REDIS_COOLDOWN_MS,
    signals,
  });
  return {
    signals,
    db,
    cache,
    guard,
    limiter: createRateLimiter(guard),
    slots: createSlots({ guard, leaseMs: config.SLOT_LEASE_MS, logger }),
    watch: watchSettings({ db, cache, intervalMs: config.SETTINGS_POLL_MS, logger }),
    forwarder: createForward({
      connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
      idleMs: config.UPSTREAM_IDLE_MS,
      readIdleMs: config.UPSTREAM_READ_MS,
    }),
    peppers: config.API_KEY_PEPPERS,
    owners: createOwners(config, logger),
  };
}

function createPublicApp(config: Config, logger: Logger, parts: Parts) {
  const routes = [
    ...ownRoutes({ scenes: loadScenes(config.SCENES_FILE), openapiFile: config.OPENAPI_FILE }),
    ...forwardedRoutes({
      ...parts,
      forward: parts.forwarder.forward,
      urls: ownerUrls(config),
      tokenKey: config.INTERNAL_TOKEN_KEY,
    }),
  ];
  const authenticate = admit({
    ...parts,
    throttle: createFailureThrottle(config.AUTH_FAILURES_PER_MINUTE),
    used: createUseNotes({ ...parts, logger }),
  });
  const before = [accessLog(parts.signals), apiDocs];
  const app = createApp({ routes: routes.map((entry) => named(entry)), authenticate, logger, before });
  return app.set('trust proxy', config.TRUSTED_PROXIES);
}

function createAdminApp(config: Config, logger: Logger, parts: Parts) {
  return createApp({
    routes: adminRoutes(parts).map((entry) => named(entry)),
    authenticate: requireStaticToken(config.ADMIN_TOKEN),
    logger,
    before: [accessLog(parts.signals)],
  });
}

async function stopBackground({ watch, slots, guard, forwarder }: Parts): Promise<void> {
  slots.stop();
  forwarder.close();
  await Promise.all([watch.stop(), guard.close()]);
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'gateway', migrations);
