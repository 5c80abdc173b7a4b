import { afterEach, beforeAll, afterAll, beforeEach, expect, test } from '@jest/globals';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { createBatchConsumer } from '../src/batch-consumer.ts';
import type { EventConsumer } from '../src/consumer.ts';
import { createFeatureQuery } from '../src/group-features.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { createProducer } from '../src/producer.ts';
import { isEvent } from '../src/subscription.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { changed, thingChanged, topic } from './support/events.ts';

let database: TestDatabase;
let kafka: TestKafka;
const consumers: EventConsumer[] = [];

beforeAll(async () => {
  database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
});
afterAll(() => database.drop());
beforeEach(async () => {
  kafka = await testKafka({ topics: [topic], partitions: 2 });
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  await kafka.close();
});

const seen: number[] = [];
const start = (features?: readonly string[]) => {
  const consumer = createBatchConsumer({
    db: database.db,
    kafka: kafka.client,
    groupId: 'readers',
    topic,
    definitions: [thingChanged],
    ...(features && { features }),
    handle: async (events) => {
      for (const event of events) if (isEvent(thingChanged, event)) seen.push(event.data.version);
    },
    onFatal: (error) => {
      throw error;
    },
  });
  consumers.push(consumer);
  consumer.start();
  return consumer;
};
const isRead = async (feature = 'new-form') => {
  const query = createFeatureQuery(kafka.client, 'readers', feature);
  try {
    return await query.isReadByAll();
  } finally {
    await query.close();
  }
};

test('a feature counts while every member of the group announces it, and members of both kinds share partitions', async () => {
  expect(await isRead()).toBe(false);
  const first = start(['other', 'new-form']);
  await first.joined;
  await until(() => isRead());
  expect(await isRead('unknown')).toBe(false);
  const older = start();
  await older.joined;
  await until(async () => !(await isRead()));
  const producer = createProducer(kafka.client);
  await producer.publishBatch([0, 1].map((partition) => ({ ...changed('a', partition), partition })));
  await producer.stop();
  await until(() => seen.length === 2);
  await older.stop();
  await until(() => isRead());
});
