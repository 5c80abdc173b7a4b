import { createTokenSigner } from '@vision/shared/http/service-token';
import { createInferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';
import type { Knex } from 'knex';
import { streamCertificates } from '@vision/streams/stream-certificates';
import { createStreamPolicy } from '@vision/streams/stream-rules';
import { createObjectStore } from '@vision/objects/object-store';
import { objectStoreOptions } from '@vision/objects/object-store-config';
import { createOwnPrefix } from '@vision/objects/own-prefix';
import { createQuotaClient } from '@vision/creation/quota-client';
import { createImagesClient } from './clients/images.ts';
import { createResultsClient } from './clients/results.ts';
import { createAddressProbe } from './clients/address-probe.ts';
import { createVideoReader } from './clients/video-reader.ts';
import type { Config } from './config.ts';
import { VIDEO_PREFIX } from './domain/video-key.ts';
import type { Deps } from './use-cases/deps.ts';
import { VIDEOS } from './use-cases/retain/sweep-videos.ts';

export type Clients = Pick<
  Deps,
  'store' | 'videos' | 'ownPrefix' | 'inference' | 'quota' | 'results' | 'images' | 'policy' | 'probe'
>;

/** Builds the clients of everything outside of the service except its database and Kafka. */
export function createClients(config: Config, { db, logger }: { db: Knex; logger: Logger }): Clients {
  const { RESULTS_URL: resultsUrl, IMAGES_URL: imagesUrl } = config;
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys } = config;
  const signer = createTokenSigner({ issuer: 'tasks', key, publicKeys });
  const between = { signer, timeoutMs: config.SERVICE_TIMEOUT_MS, logger };
  const policy = createStreamPolicy(config);
  const stored = { ...objectStoreOptions(config), idleMs: config.S3_IDLE_MS };
  return {
    store: createObjectStore(stored),
    videos: createVideoReader(stored),
    ownPrefix: createOwnPrefix({ db, name: VIDEOS, prefix: VIDEO_PREFIX }),
    inference: createInferenceClient({
      baseUrl: config.INFERENCE_URL,
      token: config.INFERENCE_TOKEN,
      signer,
      breakerResetMs: config.BREAKER_RESET_MS,
      submitTimeoutMs: config.SUBMIT_TIMEOUT_MS,
    }),
    quota: createQuotaClient({ ...between, baseUrl: config.QUOTA_URL }),
    results:
      resultsUrl === undefined
        ? undefined
        : createResultsClient({ ...between, baseUrl: resultsUrl, breakerResetMs: config.BREAKER_RESET_MS }),
    images: imagesUrl === undefined ? undefined : createImagesClient({ ...between, baseUrl: imagesUrl }),
    policy,
    probe: createAddressProbe({
      policy,
      connectMs: config.PROBE_CONNECT_MS,
      ca: streamCertificates(config.STREAM_CA_FILE),
    }),
  };
}
