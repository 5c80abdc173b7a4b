import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import kafkajs from 'kafkajs';
import { toMessage } from '../src/cloud-event.ts';
import { createConsumer } from '../src/consumer.ts';
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

test('a consumer reads batches that another client compressed with zstd', async () => {
  const events = [1, 2, 3].map((version) => ({ ...changed('a-thing', version), id: `zstd-${version}` }));
  const other = kafka.client.kafka.producer();
  await other.connect();
  await other.send({
    topic: kafka.client.nameOf(topic),
    compression: kafkajs.CompressionTypes.ZSTD,
    messages: events.map((event) => toMessage(event)),
  });
  await other.disconnect();
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
