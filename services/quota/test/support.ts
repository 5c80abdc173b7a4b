import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { CallingService } from '@vision/contracts/allowed-calls';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createProducer } from '@vision/kafka/producer';
import type { EventProducer } from '@vision/kafka/producer';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { hasten } from '@vision/shared/testing/hasten';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testPublicKeys, testToken } from '@vision/shared/testing/service-keys';
import { constants, readConfig } from '../src/config.ts';
import { migrations } from '../src/db/migrations/list.ts';
import { createService } from '../src/service.ts';
import type { QuotaService } from '../src/service.ts';

export const logger = createLogger('quota-test', process.env['TEST_LOG_LEVEL'] ?? 'silent');
export const newId = () => `${randomUUID()}/1`;

export const testLedger = () => createTestDatabase(migrations, { poolMax: 20 });

/** Runs `work` with the database clock moved; the shift ends with the transaction. */
export async function atOffset<T>(db: Knex, offset: string, work: (tx: Knex) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.raw(`select set_config('vision.clock_offset', ?, true)`, [offset]);
    return work(tx);
  });
}

/**
 * Runs `work` at the instant `wanted` (ISO 8601) of the database clock. The database reckons the shift in the
 * transaction itself, so the clock shows that instant however late the statement comes.
 */
export const atTime = <T>(db: Knex, wanted: string, work: (tx: Knex) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.raw(
      `select set_config('vision.clock_offset', extract(epoch from ?::timestamptz - now()) || ' seconds', true)`,
      [wanted],
    );
    return work(tx);
  });

export interface TestQuota {
  /** What another process of the service needs to work on the same ledger and topics. */
  env: Record<string, string>;
  database: TestDatabase;
  kafka: TestKafka;
  producer: EventProducer;
  service: QuotaService;
  call: (
    method: string,
    path: string,
    options?: { subject?: string; issuer?: CallingService; body?: unknown },
  ) => Promise<Response>;
  stop: () => Promise<void>;
}

/** The service as it is deployed, on a database, topics and ports of its own; `settings` go over the usual ones. */
export async function startQuota(settings: Record<string, string> = {}, log = logger): Promise<TestQuota> {
  const database = await testLedger();
  const kafka = await testKafka({ topics: [topics.tasks, topics.images] });
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    HEALTH_PORT: '0',
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    LOG_LEVEL: 'silent',
    ...settings,
  };
  const config = hasten(readConfig(env), constants, env);
  const service = await createService(config, { logger: log, onFatal: (error) => log.fatal(error) });
  await service.start();
  const producer = createProducer(kafka.client);
  return {
    env,
    database,
    kafka,
    producer,
    service,
    call: async (method, path, { subject = 'subject-a', issuer = 'tasks', body } = {}) => {
      const token = await testToken(issuer, 'quota', { subject });
      return fetch(`http://127.0.0.1:${service.port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    stop: async () => {
      await producer.stop();
      for (const phase of service.stopPhases) await phase.stop();
      await kafka.close();
      await database.drop();
    },
  };
}
