import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { createBatchConsumer } from '../../src/batch-consumer.ts';
import type { BatchConsumerOptions } from '../../src/batch-consumer.ts';
import type { EventConsumer } from '../../src/consumer.ts';
import { positionEpochsMigration, positionsMigration } from '../../src/positions.ts';
import { createProducer } from '../../src/producer.ts';
import type { EventProducer } from '../../src/producer.ts';
import { testKafka } from '../../src/testing/kafka.ts';
import type { TestKafka } from '../../src/testing/kafka.ts';
import { thingChanged, topic } from './events.ts';

/** Starts batch consumers of a topic, which is new for each test of a file, and stops them after it. */
export function useBatchConsumers({ partitions = 2 } = {}) {
  let database: TestDatabase;
  let kafka: TestKafka;
  let producer: EventProducer;
  const consumers: EventConsumer[] = [];

  beforeAll(async () => {
    database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
  });
  beforeEach(async () => {
    kafka = await testKafka({ topics: [topic], partitions });
    producer = createProducer(kafka.client);
  });
  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
    await producer.stop();
    await kafka.close();
  });
  afterAll(() => database.drop());

  return {
    db: () => database.db,
    client: () => kafka.client,
    producer: () => producer,
    start: (handle: BatchConsumerOptions['handle'], options: Partial<BatchConsumerOptions> = {}): EventConsumer => {
      const consumer = createBatchConsumer({
        db: database.db,
        kafka: kafka.client,
        groupId: 'storers',
        topic,
        definitions: [thingChanged],
        handle,
        onFatal: (error) => {
          throw error;
        },
        ...options,
      });
      consumers.push(consumer);
      consumer.start();
      return consumer;
    },
  };
}
