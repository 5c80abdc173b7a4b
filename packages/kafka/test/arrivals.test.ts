import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { createArrivals } from '../src/arrivals.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { createProducer } from '../src/producer.ts';
import type { EventProducer } from '../src/producer.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { topic } from './support/events.ts';

const groupId = 'keepers';
let database: TestDatabase;
let kafka: TestKafka;
let producer: EventProducer;

beforeAll(async () => {
  database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
  kafka = await testKafka({ topics: [topic], partitions: 1 });
  producer = createProducer(kafka.client);
});
afterAll(async () => {
  await producer.stop();
  await kafka.close();
  await database.drop();
});

const publish = (count: number) =>
  producer.publishRaw(Array.from({ length: count }, () => ({ topic, key: 'one', value: '{}', headers: {} })));

/** Every record in front of this offset was handled. */
const handled = (offset: number) =>
  database
    .db('consumer_positions')
    .insert({
      consumer: kafka.client.nameOf(groupId),
      topic: kafka.client.nameOf(topic),
      partition: 0,
      next_offset: offset,
    })
    .onConflict(['consumer', 'topic', 'partition'])
    .merge();

test('everything has arrived once the positions reach the ends that the topic had, however much follows', async () => {
  const arrivals = createArrivals({ db: database.db, kafka: kafka.client, groupId, topic, everyMs: 0 });
  await publish(3);
  const [before, asked] = [Date.now(), await arrivals.completeUntil()];
  expect(asked).toBeUndefined();
  const after = Date.now();
  await publish(3);
  await handled(2);
  expect(await arrivals.completeUntil()).toBeUndefined();
  await handled(3);
  const untilMs = await arrivals.completeUntil();
  expect(untilMs).toBeGreaterThanOrEqual(before);
  expect(untilMs).toBeLessThanOrEqual(after);
  // The later records are waited for from now on.
  expect(await arrivals.completeUntil()).toBe(untilMs);
  await handled(6);
  expect(await arrivals.completeUntil()).toBeGreaterThan(after - 1);
});
