import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { dlqTopic } from '@vision/contracts/topics';
import { applyTopics } from '../src/apply-topics.ts';
import { createConsumer } from '../src/consumer.ts';
import type { EventConsumer } from '../src/consumer.ts';
import { findDeadLetter, replayDlq } from '../src/dlq.ts';
import { IDLE_MS } from '../src/dlq-records.ts';
import { createProducer } from '../src/producer.ts';
import type { EventProducer } from '../src/producer.ts';
import { on } from '../src/subscription.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { changed, thingChanged, topic } from './support/events.ts';
import { until } from '@vision/shared/testing/until';
import { untilSettled } from '@vision/kafka/testing/settled';

// With the headers below a record of almost the size that a topic takes by default; the copy has more of them.
const BYTES = 1_048_388;

let database: TestDatabase;
let kafka: TestKafka;
let producer: EventProducer;
let consumer: EventConsumer;

beforeAll(async () => {
  database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
});
beforeEach(async () => {
  kafka = await testKafka({ topics: [topic], partitions: 1 });
  producer = createProducer(kafka.client);
  consumer = createConsumer({
    db: database.db,
    kafka: kafka.client,
    groupId: 'readers',
    subscriptions: [on(thingChanged, async () => undefined)],
    onFatal: (error) => {
      throw error;
    },
  });
  consumer.start();
});
afterEach(async () => {
  await consumer.stop();
  await producer.stop();
  await kafka.close();
});
afterAll(() => database.drop());

/** A record that fills its topic and is no JSON, and an event behind it in its partition. */
async function publishTooLarge(): Promise<Buffer> {
  const value = Buffer.alloc(BYTES, 'x');
  const headers = { ce_type: thingChanged.type, ce_source: 'test', ce_id: 'large' };
  await producer.publishRaw([{ topic, key: 'a', value, headers }]);
  await producer.publish([{ ...changed('a', 1), id: 'behind' }]);
  return value;
}

test('a record that does not fit into the dead letter topic is stored there without its value, and the next one is handled', async () => {
  const value = await publishTooLarge();
  expect(await untilSettled(consumer, 'behind')).toBe('handled');
  const letter = await findDeadLetter(kafka.client, topic, 'newest');
  expect(letter).toMatchObject({
    eventId: 'large',
    key: 'a',
    reason: 'invalid_json',
    detail: expect.stringContaining(`The value of ${BYTES} bytes was too large`),
    from: { partition: '0', offset: '0' },
    omittedBytes: BYTES,
    digest: createHash('sha256').update(value).digest('hex'),
  });
  expect(letter?.payload).toHaveLength(0);
});

test('a replay passes over a record whose value was left out', async () => {
  await publishTooLarge();
  await untilSettled(consumer, 'behind');
  expect(await replayDlq(kafka.client, topic, { idleMs: IDLE_MS })).toBe(0);
});

test('a dead letter topic that was applied takes the whole record', async () => {
  const dlq = { name: dlqTopic(topic), partitions: 1, addPartitions: false, retentionMs: 3_600_000 };
  const { changes } = await applyTopics(kafka.client, [{ ...dlq, minMessageBytes: 2_097_176 }]);
  expect(changes).toContain(`${kafka.client.nameOf(dlq.name)} gets max.message.bytes=2097176`);
  const smaller = [{ ...dlq, minMessageBytes: 2_000_000 }];
  // The broker that is asked learns of a change a moment after the controller has acknowledged it.
  await until(async () => (await applyTopics(kafka.client, smaller, { check: true })).changes.length === 0);
  expect((await applyTopics(kafka.client, smaller)).changes).toEqual([]);
  const value = await publishTooLarge();
  expect(await untilSettled(consumer, 'behind')).toBe('handled');
  expect((await findDeadLetter(kafka.client, topic, 'large'))?.payload.equals(value)).toBe(true);
});
