import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { loadConfig } from '@vision/shared/config';
import { ConfigResourceTypes } from 'kafkajs';
import { z } from 'zod';
import { createConsumer } from '../src/consumer.ts';
import { kafkaConfig, kafkaConnection } from '../src/kafka-config.ts';
import { createKafka } from '../src/kafka.ts';
import { createProducer } from '../src/producer.ts';
import { on } from '../src/subscription.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { untilSettled } from '../src/testing/settled.ts';
import { effectsMigrations } from './support/effects.ts';
import { changed, thingChanged, topic } from './support/events.ts';

let database: TestDatabase;
let kafka: TestKafka;
beforeAll(async () => {
  kafka = await testKafka({ topics: [topic], partitions: 1 });
  database = await createTestDatabase(effectsMigrations);
});
afterAll(async () => {
  await kafka.close();
  await database.drop();
});

/** Bytes: less than the events of the test have. */
const LARGEST_BATCH = 5_000;

async function limitBatches(bytes: number): Promise<void> {
  const { client } = kafka;
  const admin = client.kafka.admin();
  await admin.connect();
  const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
  const resources = [{ type: ConfigResourceTypes.TOPIC, name: client.nameOf(topic), configEntries }];
  await admin.alterConfigs({ validateOnly: false, resources }).finally(() => admin.disconnect());
}

test('what a producer compresses with zstd is smaller, and a consumer reads it', async () => {
  const events = [1, 2, 3].map((version) => ({ ...changed('thing'.repeat(2_000), version), id: `zstd-${version}` }));
  const { brokers, topicPrefix, client } = kafka;
  const env = { KAFKA_BROKERS: brokers.join(','), TOPIC_PREFIX: topicPrefix, KAFKA_COMPRESSION: 'zstd' };
  const connection = kafkaConnection(loadConfig(z.object(kafkaConfig), env));
  const zstd = createKafka({ ...connection, clientId: 'zstd', logger: client.logger });
  await limitBatches(LARGEST_BATCH);
  const [plain, compressed] = [createProducer(client), createProducer(zstd)];
  await expect(plain.publish(events)).rejects.toMatchObject({ type: 'MESSAGE_TOO_LARGE' });
  await compressed.publish(events);
  await Promise.all([plain.stop(), compressed.stop()]);
  const handled: number[] = [];
  const consumer = createConsumer({
    db: database.db,
    kafka: kafka.client,
    groupId: 'zstd',
    subscriptions: [on(thingChanged, async ({ data }) => void handled.push(data.version))],
    onFatal: (error) => {
      throw error;
    },
  });
  consumer.start();
  try {
    for (const { id } of events) expect(await untilSettled(consumer, id)).toBe('handled');
    expect(handled).toEqual([1, 2, 3]);
  } finally {
    await consumer.stop();
  }
});
