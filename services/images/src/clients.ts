import { createTokenSigner } from '@vision/shared/http/service-token';
import { createInferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';
import { createObjectStore } from '@vision/objects/object-store';
import { objectStoreOptions } from '@vision/objects/object-store-config';
import { createQuotaClient } from '@vision/creation/quota-client';
import { createSpool, SPOOL_MEMORY } from './clients/spool.ts';
import type { Config } from './config.ts';
import type { Deps } from './use-cases/deps.ts';

export type Clients = Pick<Deps, 'quota' | 'inference' | 'store' | 'spool'>;

/** Builds the clients of everything outside of the service except its database and Kafka. */
export function createClients(config: Config, logger: Logger): Clients {
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys } = config;
  const signer = createTokenSigner({ issuer: 'images', key, publicKeys });
  return {
    quota: createQuotaClient({
      baseUrl: config.QUOTA_URL,
      signer,
      timeoutMs: config.QUOTA_TIMEOUT_MS,
      logger,
    }),
    inference: createInferenceClient({
      baseUrl: config.INFERENCE_URL,
      token: config.INFERENCE_TOKEN,
      signer,
      breakerResetMs: config.BREAKER_RESET_MS,
      detectTimeoutMs: config.DETECT_TIMEOUT_MS,
    }),
    store: createObjectStore({ ...objectStoreOptions(config), idleMs: config.S3_IDLE_MS }),
    spool: createSpool(config.SPOOL_DIR, SPOOL_MEMORY),
  };
}
