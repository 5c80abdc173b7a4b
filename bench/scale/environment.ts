import { freePort } from '@vision/shared/testing/ports';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import type { ScratchDatabase } from '../scratch-database.ts';

/** What a service that runs in a benchmark is given of its own. */
export interface OwnStores {
  database: ScratchDatabase;
  kafka: TestKafka;
  healthPort: number;
}

/** Settings that tasks and results share; the object store is that of the running system. */
export async function environmentOf(
  service: 'tasks' | 'results',
  { database, kafka, healthPort }: OwnStores,
): Promise<Record<string, string>> {
  const own = (name: string) => process.env[name] ?? process.env[`TEST_${name}`] ?? '';
  return {
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    HEALTH_PORT: String(healthPort),
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_KEY: testServiceKey(service),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64'),
    S3_ENDPOINT: own('S3_ENDPOINT'),
    S3_REGION: own('S3_REGION') || 'us-east-1',
    S3_BUCKET: own('S3_BUCKET'),
    S3_ACCESS_KEY: own('S3_ACCESS_KEY'),
    S3_SECRET_KEY: own('S3_SECRET_KEY'),
    // Its questions would go to neighbours that are not there.
    AUDIT_INTERVAL_MS: '3600000',
    LOG_LEVEL: 'warn',
  };
}
