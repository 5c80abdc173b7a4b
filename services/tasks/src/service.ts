import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { requireServiceToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createInferenceClient } from '@vision/shared/inference-client';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { streamCertificates } from '@vision/shared/net/stream-certificates';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import { createQuotaClient } from '@vision/shared/quota-client';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import { createSecretBox } from '@vision/shared/secret-box';
import { startBackground } from './background.ts';
import type { Background } from './background.ts';
import { createImagesClient } from './clients/images.ts';
import { createResultsClient } from './clients/results.ts';
import { createStreamProbe } from './clients/stream-probe.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';
import type { Deps } from './use-cases/deps.ts';

export interface TasksService extends RunningService {
  /** Known after `start`. */
  port: number;
  healthPort: number;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, context: ServiceContext): Promise<TasksService> {
  let background: Background | undefined;
  const deps = createDeps(config, context, () => background);
  const app = createApp({
    routes: routes(deps, {
      body: { idleMs: config.BODY_IDLE_MS, totalMs: config.BODY_TOTAL_MS },
      retentionBatch: config.RETENTION_BATCH,
    }),
    authenticate: requireServiceToken(config.INTERNAL_TOKEN_KEY, 'tasks'),
    logger: context.logger,
  });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const health = createHttpServer(
    healthListener({ ready: schemaReadiness(deps.db, migrations), live: () => background?.isAlive() ?? true }),
    { host: config.HOST, port: config.HEALTH_PORT },
  );
  const service: TasksService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    start: async () => {
      service.healthPort = await health.start();
      service.port = await server.start();
      background = startBackground(deps, config, context);
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(config.SHUTDOWN_GRACE_MS - 1_000) },
      { name: 'background', timeoutMs: 15_000, stop: async () => background?.stop() },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      {
        name: 'clients',
        timeoutMs: 5_000,
        stop: async () => {
          deps.inference.close();
          deps.objects.close();
          await deps.db.destroy();
        },
      },
    ],
  };
  return service;
}

function createDeps(config: Config, { logger }: ServiceContext, background: () => Background | undefined): Deps {
  const policy = createAddressPolicy(config.STREAM_ALLOWED_CIDRS);
  const between = { tokenKey: config.INTERNAL_TOKEN_KEY, timeoutMs: config.SERVICE_TIMEOUT_MS, logger };
  return {
    db: createDb({ url: config.DATABASE_URL, poolMax: config.DATABASE_POOL, applicationName: 'tasks' }),
    clock: { offset: config.CLOCK_OFFSET },
    logger,
    signals: createSignals(),
    scenes: loadScenes(config.SCENES_FILE),
    box: createSecretBox(config.STREAM_URL_KEY),
    policy,
    probe: createStreamProbe({
      ...{ policy, connectMs: config.PROBE_CONNECT_MS, totalMs: config.PROBE_TOTAL_MS },
      ca: streamCertificates(config.STREAM_CA_FILE),
    }),
    quota: createQuotaClient({ ...between, issuer: 'tasks', baseUrl: config.QUOTA_URL }),
    inference: createInferenceClient({
      baseUrl: config.INFERENCE_URL,
      token: config.INFERENCE_TOKEN,
      breakerResetMs: config.BREAKER_RESET_MS,
      submitTimeoutMs: config.SUBMIT_TIMEOUT_MS,
    }),
    results:
      config.RESULTS_URL === undefined ? undefined : createResultsClient({ ...between, baseUrl: config.RESULTS_URL }),
    images:
      config.IMAGES_URL === undefined ? undefined : createImagesClient({ ...between, baseUrl: config.IMAGES_URL }),
    objects: createObjectStore({
      endpoint: config.S3_ENDPOINT,
      region: config.S3_REGION,
      bucket: config.S3_BUCKET,
      accessKey: config.S3_ACCESS_KEY,
      secretKey: config.S3_SECRET_KEY,
      idleMs: config.S3_IDLE_MS,
    }),
    wakeRelay: () => background()?.wakeRelay(),
    wakeReconciler: () => background()?.wakeReconciler(),
    limits: {
      leaseMs: config.LEASE_MS,
      keyWaitMs: config.KEY_WAIT_MS,
      stopWaitMs: config.STOP_WAIT_MS,
      submitTimeoutMs: config.SUBMIT_TIMEOUT_MS,
      reconcileMs: config.RECONCILE_MS,
      resolvingReconcileMs: config.RESOLVING_RECONCILE_MS,
      resultsGraceMs: config.RESULTS_GRACE_MS,
      vanishMs: config.VANISH_MS,
      orphanAgeMs: config.ORPHAN_AGE_MS,
    },
  };
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> => migrateOnce(config.DATABASE_URL, 'tasks', migrations);
