import { createDb } from '@vision/shared/db/knex';
import { migrateOnce, schemaReadiness } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { requireServiceToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import { createInferenceClient } from '@vision/shared/inference-client';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createRelay } from '@vision/shared/messaging/relay';
import type { Relay } from '@vision/shared/messaging/relay';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import { createQuotaClient } from '@vision/shared/quota-client';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import { startBackground } from './background.ts';
import type { Background } from './background.ts';
import { createSpool } from './clients/spool.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createSlots } from './domain/slots.ts';
import { createCallGate } from './http/call-gate.ts';
import { routes } from './http/routes.ts';
import { createSignals } from './signals.ts';

export interface ImagesService extends RunningService {
  /** Known after `start`. */
  port: number;
  healthPort: number;
}

/** Builds the service from its configuration; nothing is connected or listening before `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<ImagesService> {
  const parts = createParts(config, logger);
  const { db, store, inference, spool, producer, deps } = parts;
  const app = createApp({
    routes: routes(deps),
    authenticate: requireServiceToken(config.INTERNAL_TOKEN_KEY, 'images'),
    logger,
  });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const health = createHttpServer(healthListener({ ready: schemaReadiness(db, migrations) }), {
    host: config.HOST,
    port: config.HEALTH_PORT,
  });
  let background: Background | undefined;
  const service: ImagesService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    start: async () => {
      await spool.prepare();
      service.healthPort = await health.start();
      parts.relay = createRelay({ db, producer, logger });
      parts.relay.start();
      background = startBackground(deps, { config, logger });
      service.port = await server.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(config.SHUTDOWN_GRACE_MS - 1_000) },
      { name: 'calls', timeoutMs: 10_000, stop: () => deps.calls.idle() },
      { name: 'background', timeoutMs: 10_000, stop: async () => background?.stop() },
      {
        name: 'events',
        timeoutMs: 10_000,
        stop: async () => {
          await parts.relay?.stop();
          await producer.stop();
        },
      },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      {
        name: 'clients',
        timeoutMs: 5_000,
        stop: async () => {
          inference.close();
          store.close();
          await Promise.all([db.destroy(), spool.remove()]);
        },
      },
    ],
  };
  return service;
}

/** Brings the database of this service up to date. */
export const migrateDatabase = (config: Config): Promise<void> =>
  migrateOnce(config.DATABASE_URL, 'images', migrations);

function createParts(config: Config, logger: ServiceContext['logger']) {
  const db = createDb({ url: config.DATABASE_URL, poolMax: config.DATABASE_POOL, applicationName: 'images' });
  const store = createObjectStore({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    accessKey: config.S3_ACCESS_KEY,
    secretKey: config.S3_SECRET_KEY,
    idleMs: config.S3_IDLE_MS,
  });
  const inference = createInferenceClient({
    baseUrl: config.INFERENCE_URL,
    token: config.INFERENCE_TOKEN,
    breakerResetMs: config.BREAKER_RESET_MS,
    detectTimeoutMs: config.DETECT_TIMEOUT_MS,
  });
  const { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix } = config;
  const kafka = createKafka({ brokers, clientId: 'images', logger, topicPrefix });
  const spool = createSpool(config.SPOOL_DIR);
  const deps = {
    db,
    store,
    inference,
    spool,
    calls: createCallGate(config.MAX_CALLS),
    clock: { offset: config.CLOCK_OFFSET },
    quota: createQuotaClient({
      baseUrl: config.QUOTA_URL,
      issuer: 'images',
      tokenKey: config.INTERNAL_TOKEN_KEY,
      timeoutMs: config.QUOTA_TIMEOUT_MS,
      logger,
    }),
    scenes: loadScenes(config.SCENES_FILE),
    signals: createSignals(logger),
    slots: createSlots(config.IMAGES_AT_ONCE),
    imagesPerCallAtOnce: config.IMAGES_PER_CALL_AT_ONCE,
    leaseMs: config.LEASE_MS,
    keyWaitMs: config.KEY_WAIT_MS,
    bodyIdleMs: config.BODY_IDLE_MS,
    bodyTotalMs: config.BODY_TOTAL_MS,
    retentionDays: config.RETENTION_DAYS,
    orphanAgeMs: config.ORPHAN_AGE_MS,
    published: () => parts.relay?.wake(),
  };
  const parts = {
    db,
    store,
    inference,
    spool,
    producer: createProducer(kafka),
    deps,
    relay: undefined as Relay | undefined,
  };
  return parts;
}
