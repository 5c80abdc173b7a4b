import type { Knex } from 'knex';
import { consumerGroups, topics } from '@vision/contracts/topics';
import { createServiceClient } from '@vision/shared/http/service-client';
import { createTokenSigner } from '@vision/shared/http/service-token';
import type { Logger } from '@vision/shared/logger';
import type { KafkaClient } from '@vision/kafka/kafka';
import { readLag } from '@vision/kafka/lag';
import type { Relay } from '@vision/kafka/relay';
import { askKafka, outboxStatus } from '@vision/kafka/status';
import { askStore } from '@vision/objects/ask-store';
import { askDatabase, askService } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import type { Check } from '@vision/shared/status/status';
import { createBackendStatus } from './clients/backend-status.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import type { Deps } from './use-cases/deps.ts';

export interface StatusParts extends Pick<Deps, 'store' | 'inference' | 'results'> {
  db: Knex;
  kafka: KafkaClient;
  relay: Relay;
  logger: Logger;
  loops: Pick<Deps['loops'], 'poisoned'>;
}

/** Builds the status of this process and the backend for operators. */
export function createStatus(config: Config, parts: StatusParts): Pick<Deps, 'status' | 'backendStatus'> {
  const { db, kafka, relay, store, inference, results, logger, loops } = parts;
  const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys, SERVICE_TIMEOUT_MS: timeoutMs } = config;
  const signer = createTokenSigner({ issuer: 'tasks', key, publicKeys });
  const neighbour = (audience: 'quota' | 'results' | 'images', baseUrl: string | undefined): Record<string, Check> => {
    if (baseUrl === undefined) return {};
    return { [audience]: askService(createServiceClient({ baseUrl, audience, signer, timeoutMs, logger })) };
  };
  const status = createStatusReader({
    service: 'tasks',
    checks: {
      database: askDatabase(db, migrations),
      kafka: askKafka(kafka, [topics.tasks, ...consumerGroups.tasks.flatMap((group) => group.topics)]),
      object_store: askStore(store),
      ...neighbour('quota', config.QUOTA_URL),
      ...neighbour('results', config.RESULTS_URL),
      ...neighbour('images', config.IMAGES_URL),
      inference: inference.readHealth,
    },
    breakers: () => [...inference.breakers(), ...(results?.breakers() ?? [])],
    outbox: () => outboxStatus(db, relay),
    poisoned: loops.poisoned,
    lag: () => readLag({ db, kafka, groups: consumerGroups.tasks }),
  });
  const baseUrl = config.INFERENCE_REPLICAS_URL ?? config.INFERENCE_URL;
  return { status, backendStatus: createBackendStatus({ baseUrl, token: config.INFERENCE_TOKEN, signer }) };
}
