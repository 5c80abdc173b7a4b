import { topics } from '@vision/contracts/topics';
import { createServiceClient } from '@vision/shared/http/service-client';
import { createTokenSigner } from '@vision/shared/http/service-token';
import type { Logger } from '@vision/shared/logger';
import type { KafkaClient } from '@vision/kafka/kafka';
import type { Relay } from '@vision/kafka/relay';
import { askKafka, outboxStatus } from '@vision/kafka/status';
import { askStore } from '@vision/objects/ask-store';
import { askDatabase, askService } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import type { StatusReader } from '@vision/shared/status/status';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import type { Deps } from './use-cases/deps.ts';

export interface StatusParts extends Pick<Deps, 'db' | 'store' | 'inference'> {
  loops: Pick<Deps['loops'], 'poisoned'>;
  kafka: KafkaClient;
  relay: Relay;
  logger: Logger;
}

/** Builds the status of this process for operators. */
export function createStatus(
  config: Config,
  { db, kafka, relay, store, inference, logger, loops }: StatusParts,
): StatusReader {
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys, QUOTA_URL: baseUrl } = config;
  const signer = createTokenSigner({ issuer: 'images', key, publicKeys });
  const timeoutMs = config.QUOTA_TIMEOUT_MS;
  return createStatusReader({
    service: 'images',
    checks: {
      database: askDatabase(db, migrations),
      kafka: askKafka(kafka, [topics.images]),
      object_store: askStore(store),
      quota: askService(createServiceClient({ baseUrl, audience: 'quota', signer, timeoutMs, logger })),
      inference: inference.readHealth,
    },
    breakers: inference.breakers,
    outbox: () => outboxStatus(db, relay),
    poisoned: loops.poisoned,
  });
}
