import type { Knex } from 'knex';
import { createGate } from '@vision/shared/async/gate';
import { createInferenceClient } from '@vision/shared/inference-client';
import type { Logger } from '@vision/shared/logger';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import { createQuotaClient } from '@vision/shared/quota-client';
import { loadScenes } from '@vision/shared/scenes';
import { createSpool } from './clients/spool.ts';
import type { Config } from './config.ts';
import { createSignals } from './signals.ts';
import type { Deps } from './use-cases/deps.ts';

export interface DepsInput {
  config: Config;
  logger: Logger;
  db: Knex;
  wakeRelay: () => void;
}

/** The clients of the neighbours, and all else that use cases work with. */
export function createDeps({ config, logger, db, wakeRelay }: DepsInput): Deps {
  return {
    db,
    wakeRelay,
    signals: createSignals(logger),
    scenes: loadScenes(config.SCENES_FILE),
    quota: createQuotaClient({
      baseUrl: config.QUOTA_URL,
      issuer: 'images',
      tokenKey: config.INTERNAL_TOKEN_KEY,
      timeoutMs: config.QUOTA_TIMEOUT_MS,
      logger,
    }),
    inference: createInferenceClient({
      baseUrl: config.INFERENCE_URL,
      token: config.INFERENCE_TOKEN,
      breakerResetMs: config.BREAKER_RESET_MS,
      detectTimeoutMs: config.DETECT_TIMEOUT_MS,
    }),
    store: createObjectStore({
      endpoint: config.S3_ENDPOINT,
      region: config.S3_REGION,
      bucket: config.S3_BUCKET,
      accessKey: config.S3_ACCESS_KEY,
      secretKey: config.S3_SECRET_KEY,
      idleMs: config.S3_IDLE_MS,
    }),
    spool: createSpool(config.SPOOL_DIR),
    callGate: createGate({ concurrency: config.MAX_CALLS, queue: 0 }),
    imageGate: createGate({ concurrency: config.IMAGES_AT_ONCE }),
    settings: {
      imagesPerCallAtOnce: config.IMAGES_PER_CALL_AT_ONCE,
      leaseMs: config.LEASE_MS,
      keyWaitMs: config.KEY_WAIT_MS,
      bodyIdleMs: config.BODY_IDLE_MS,
      bodyTotalMs: config.BODY_TOTAL_MS,
      retentionDays: config.RETENTION_DAYS,
      orphanAgeMs: config.ORPHAN_AGE_MS,
    },
  };
}
