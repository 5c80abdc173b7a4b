import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { dlqTopic } from '@vision/contracts/topics';
import { fail } from '@vision/contracts/errors';
import { createLogger } from '@vision/shared/logger';
import { createConsumer } from '../src/consumer.ts';
import type { ConsumerOptions, EventConsumer } from '../src/consumer.ts';
import { findDeadLetter, listDlq, replayDlq } from '../src/dlq.ts';
import { IDLE_MS } from '../src/dlq-records.ts';
import { createKafka } from '../src/kafka.ts';
import type { KafkaClient } from '../src/kafka.ts';
import { createProducer } from '../src/producer.ts';
import type { EventProducer } from '../src/producer.ts';
import { on } from '../src/subscription.ts';
import type { EventHandler } from '../src/subscription.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { changed, thingChanged, topic } from './support/events.ts';
import { readTopic } from './support/read-topic.ts';
import { createTcpForwarder } from './support/tcp-forwarder.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

type Thing = { thing: string; version: number };

let database: TestDatabase;
let kafka: TestKafka;
let producer: EventProducer;
const consumers: EventConsumer[] = [];
const fatal: Error[] = [];

beforeAll(async () => {
  database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
});
beforeEach(async () => {
  kafka = await testKafka({ topics: [topic] });
  producer = createProducer(kafka.client);
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  await producer.stop();
  await kafka.close();
});
afterAll(async () => {
  await database.drop();
  expect(fatal).toEqual([]);
});

const start = (handler: EventHandler<Thing>, options: Partial<ConsumerOptions> = {}) => {
  const consumer = createConsumer({
    db: database.db,
    kafka: kafka.client,
    groupId: 'readers',
    subscriptions: [on(thingChanged, handler)],
    onFatal: (error) => void fatal.push(error),
    ...options,
  });
  consumers.push(consumer);
  consumer.start();
  return consumer;
};
const publish = async (thing: string, version: number, id: string = randomUUID()) => {
  await producer.publish([{ ...changed(thing, version), id }]);
  return id;
};

test('an event reaches its handler with its data, key and attributes, once', async () => {
  const seen: unknown[] = [];
  const consumer = start(async (event, meta) => void seen.push({ event, meta }));
  const id = await publish('a', 1);
  expect(await untilSettled(consumer, id)).toBe('handled');
  expect(seen).toEqual([
    {
      event: {
        id,
        type: thingChanged.type,
        source: 'test',
        time: expect.any(Date),
        key: 'a',
        data: { thing: 'a', version: 1 },
      },
      meta: {
        topic,
        partition: expect.any(Number),
        offset: '0',
        attempt: 1,
        transaction: expect.any(Function),
        signal: expect.anything(),
      },
    },
  ]);
  expect(consumer.isAlive()).toBe(true);
});

test('events of one key are handled in their order', async () => {
  const seen: number[] = [];
  const consumer = start(async ({ data }) => void seen.push(data.version));
  const ids = await Promise.all([publish('a', 1)]);
  await producer.publish([2, 3, 4, 5].map((version) => ({ ...changed('a', version), id: `id-${version}` })));
  ids.push('id-5');
  for (const id of ids) await untilSettled(consumer, id);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});

test('an event whose handling was cut off before the commit comes again to the next process', async () => {
  let tries = 0;
  const first = start(() => {
    tries += 1;
    return Promise.reject(fail.sysUnavailable('database_unavailable'));
  });
  const id = await publish('a', 1);
  await until(() => tries > 0);
  await first.stop();
  const second = start(async () => undefined);
  expect(await untilSettled(second, id)).toBe('handled');
});

test('an event that was handled does not come again to the next process', async () => {
  const first = start(async () => undefined);
  await untilSettled(first, await publish('a', 1));
  await first.stop();
  const seen: number[] = [];
  const second = start(async ({ data }) => void seen.push(data.version));
  await untilSettled(second, await publish('a', 2));
  expect(seen).toEqual([2]);
});

test('what is no event, no JSON or breaks the schema goes to the dead letter topic while the others flow', async () => {
  const seen: number[] = [];
  const consumer = start(async ({ data }) => void seen.push(data.version));
  const headers = { ce_type: thingChanged.type, ce_source: 'test' };
  const partition = 0;
  await producer.publishRaw([
    { topic, key: 'a', value: '{"version":1}', partition },
    { topic, key: 'a', value: 'not json', headers: { ...headers, ce_id: 'broken' }, partition },
    { topic, key: 'a', value: null, headers: { ...headers, ce_id: 'tombstone' }, partition },
    { topic, key: 'a', value: '{"thing":"a","version":"one"}', headers: { ...headers, ce_id: 'wrong' }, partition },
    {
      topic,
      key: 'a',
      value: '{"any":1}',
      headers: { ...headers, ce_type: 'test.unknown.v1', ce_id: 'unknown' },
      partition,
    },
    { topic, key: 'a', value: '{"thing":"a","version":9}', headers: { ...headers, ce_id: 'good' }, partition },
  ]);
  expect(await untilSettled(consumer, 'good')).toBe('handled');
  expect(await untilSettled(consumer, 'wrong')).toBe('dead-lettered');
  expect(await untilSettled(consumer, 'unknown')).toBe('skipped');
  expect(seen).toEqual([9]);
  const letters = await readTopic(kafka.client, dlqTopic(topic), 4);
  expect(letters.map((letter) => letter.headers['dlq_reason'])).toEqual([
    'not_an_event',
    'invalid_json',
    'invalid_json',
    'invalid_data',
  ]);
  expect(letters[3]).toMatchObject({
    key: 'a',
    data: { thing: 'a', version: 'one' },
    headers: { ce_id: 'wrong', dlq_topic: topic, dlq_partition: '0', dlq_offset: '3', dlq_group: 'readers' },
  });
});

test('an outage is waited out for longer than any number of tries, without dead letters', async () => {
  let outage = true;
  let tries = 0;
  const consumer = start(async () => {
    tries += 1;
    if (outage) throw Object.assign(new Error('terminating connection'), { code: '57P01' });
  });
  const id = await publish('a', 1);
  await until(() => tries > 5);
  expect(consumer.isAlive()).toBe(true);
  outage = false;
  expect(await untilSettled(consumer, id)).toBe('handled');
  expect(await listDlq(kafka.client, topic)).toEqual([]);
});

test('an event whose handler keeps failing is tried, dead-lettered, listed, and replayed once', async () => {
  let broken = true;
  const attempts: number[] = [];
  const consumer = start(async (_event, { attempt }) => {
    attempts.push(attempt);
    if (broken) throw new Error('cannot divide');
  });
  const id = await publish('a', 1);
  expect(await untilSettled(consumer, id)).toBe('dead-lettered');
  expect(attempts).toEqual([1, 2, 3, 4, 5]);
  const [letter] = await listDlq(kafka.client, topic);
  expect(letter).toMatchObject({
    reason: 'handler_failed',
    detail: 'Error: cannot divide',
    eventId: id,
    key: 'a',
    group: 'readers',
  });
  const { offset = '' } = letter ?? {};
  for (const wanted of ['newest', offset, `0-${offset}`, id]) {
    const found = await findDeadLetter(kafka.client, topic, wanted);
    expect([wanted, found?.eventId, found?.headers['ce_id'], found?.from.partition]).toEqual([wanted, id, id, '0']);
    expect(JSON.parse(found?.payload.toString() ?? '')).toEqual(expect.anything());
  }
  for (const wanted of [String(Number(offset) + 1), `9-${offset}`, 'nobody']) {
    expect([wanted, await findDeadLetter(kafka.client, topic, wanted)]).toEqual([wanted, undefined]);
  }
  broken = false;
  expect(await replayDlq(kafka.client, topic, { idleMs: IDLE_MS })).toBe(1);
  await until(() => attempts.length === 6);
  expect(await replayDlq(kafka.client, topic, { idleMs: IDLE_MS })).toBe(0);
});

/** The same brokers, which take their time to acknowledge. */
function slowed(client: KafkaClient, ms: number): KafkaClient {
  const kafka = Object.create(client.kafka) as KafkaClient['kafka'];
  kafka.producer = (options) => {
    const made = client.kafka.producer(options);
    return {
      ...made,
      sendBatch: async (batch) => {
        await delay(ms);
        return made.sendBatch(batch);
      },
    };
  };
  return { ...client, kafka };
}

test('a replay takes as long as it takes, as long as records keep coming', async () => {
  const count = 12;
  const letters = Array.from({ length: count }, (_, index) => ({
    topic: dlqTopic(topic),
    value: String(index),
    partition: 0,
  }));
  await producer.publishRaw(letters);
  const idleMs = 4_000;
  const startedAt = Date.now();
  expect(await replayDlq(slowed(kafka.client, (1.25 * idleMs) / count), topic, { idleMs })).toBe(count);
  expect(Date.now() - startedAt).toBeGreaterThan(idleMs);
});

test('with Kafka away at the start a consumer waits, stops when told to, and works once it comes', async () => {
  const forwarder = await createTcpForwarder(kafka.brokers[0] ?? '');
  const options = {
    brokers: [forwarder.address],
    clientId: 'gated',
    logger: createLogger('test', 'silent'),
    topicPrefix: kafka.topicPrefix,
  };
  const impatient = start(async () => undefined, { kafka: createKafka(options) });
  await impatient.stop();
  const patient = start(async () => undefined, { kafka: createKafka(options) });
  const id = await publish('a', 1);
  expect(patient.isAlive()).toBe(true);
  await forwarder.open();
  expect(await untilSettled(patient, id)).toBe('handled');
  await patient.stop();
  await forwarder.close();
});

test('a group whose place is gone goes on with the oldest record that is left, and an alarm says so', async () => {
  const lines: { level: string; msg: string }[] = [];
  const logger = createLogger('test', 'info', {
    write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
  });
  const first = start(async () => undefined);
  await untilSettled(first, await publish('a', 1));
  await first.stop();
  await publish('a', 2);
  const last = await publish('a', 3);
  const { topicPrefix, brokers, client } = kafka;
  const admin = client.kafka.admin();
  await admin.connect();
  const partitions = await admin.fetchTopicOffsets(client.nameOf(topic));
  const used = partitions.filter(({ high }) => Number(high) > 0).map(({ partition }) => ({ partition, offset: '2' }));
  await admin.deleteTopicRecords({ topic: client.nameOf(topic), partitions: used });
  await admin.disconnect();
  const second = start(async () => undefined, {
    kafka: createKafka({ brokers, clientId: 'late', logger, topicPrefix }),
  });
  expect(await untilSettled(second, last)).toBe('handled');
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'error', msg: 'kafka: Offset out of range, resetting to default offset' }),
  );
});

test('a second process takes a share of the partitions and every event is still handled', async () => {
  const seen = new Set<number>();
  const handler: EventHandler<Thing> = async ({ data }) => void seen.add(data.version);
  const first = start(handler);
  await first.joined;
  const second = start(handler);
  await second.joined;
  await producer.publish(Array.from({ length: 40 }, (_, version) => changed(`thing-${version}`, version)));
  await until(() => seen.size === 40);
  await second.stop();
  const id = await publish('after', 40);
  expect(await untilSettled(first, id)).toBe('handled');
});
