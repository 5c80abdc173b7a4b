import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { createBatchConsumer } from '../src/batch-consumer.ts';
import type { EventConsumer } from '../src/consumer.ts';
import { createConsumer } from '../src/consumer.ts';
import { listDlq } from '../src/dlq.ts';
import { createKafka } from '../src/kafka.ts';
import type { KafkaClient } from '../src/kafka.ts';
import { createProducer } from '../src/producer.ts';
import type { EventProducer } from '../src/producer.ts';
import type { EffectTransaction } from '../src/progress.ts';
import { isEvent, on } from '../src/subscription.ts';
import { createTopics, testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { rememberTables } from '@vision/shared/testing/lost-commits';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { atBroker, removeRecordsBelow } from './support/at-broker.ts';
import { effectsMigrations } from './support/effects.ts';
import { changed, thingChanged, topic } from './support/events.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

const metrics = testMetrics();
const groupId = 'keepers';
let database: TestDatabase;
let kafka: TestKafka;
let client: KafkaClient;
let producer: EventProducer;
let lines: { level: string; msg: string; from?: string; to?: string; row?: string }[];
const consumers: EventConsumer[] = [];

beforeAll(async () => {
  database = await createTestDatabase(effectsMigrations);
});
beforeEach(async () => {
  await database.db.raw('truncate effects, consumer_positions');
  kafka = await testKafka({ topics: [topic], partitions: 1 });
  lines = [];
  const logger = createLogger('test', 'info', {
    write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
  });
  client = createKafka({ brokers: kafka.brokers, clientId: 'test', logger, topicPrefix: kafka.topicPrefix });
  producer = createProducer(kafka.client);
});
afterEach(async () => {
  await stopConsumers();
  await producer.stop();
  await kafka.close();
});
afterAll(() => database.drop());

const stopConsumers = () => Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));

/** What the handlers below do: an effect that a repeat does not change, in the transaction of the delivery. */
async function store(versions: number[], transaction: EffectTransaction): Promise<void> {
  await transaction(async (tx) => {
    await tx.raw(
      `insert into effects (version) select v from unnest(?::int[]) as v
        where not exists (select from effects where version = v)`,
      [versions],
    );
    if (versions.some((version) => refused.has(version))) throw new Error('refused');
  });
}
const refused = new Set<number>();
/** What the batch consumer took for new, and for read again after a loss. */
const handled = { first: [] as number[], again: [] as number[] };

const onFatal = (error: Error) => {
  throw error;
};
const kinds = {
  single: (compareMs: number, options: { rebuilds?: boolean; compareMs?: number } = {}) =>
    createConsumer({
      db: database.db,
      kafka: client,
      groupId,
      subscriptions: [on(thingChanged, ({ data }, { transaction }) => store([data.version], transaction))],
      onFatal,
      compareMs,
      ...options,
    }),
  batch: (compareMs: number) =>
    createBatchConsumer({
      db: database.db,
      kafka: client,
      groupId,
      topic,
      definitions: [thingChanged],
      chunkSize: 4,
      handle: async (events, { transaction, isReread }) => {
        const versions = events.flatMap((event) => (isEvent(thingChanged, event) ? [event.data.version] : []));
        await store(versions, transaction);
        handled[isReread ? 'again' : 'first'].push(...versions);
      },
      onFatal,
      compareMs,
    }),
};

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const publish = (versions: number[]) =>
  producer.publishBatch(versions.map((version) => ({ ...changed('a', version), id: `id-${version}` })));
const effects = (): Promise<number[]> => database.db('effects').orderBy('version').pluck<number[]>('version');
const row = async (): Promise<number | undefined> =>
  (await database.db('consumer_positions').first<{ next_offset: number } | undefined>('next_offset'))?.next_offset;
const alarms = (name: string) => metrics.sumOf(`vision.consumer.${name}`, { group: groupId });
const errors = () => lines.filter(({ level }) => level === 'error').map(({ msg }) => msg);

/** Compares so seldom that it is done in transactions of records only, unless a test says otherwise. */
function startConsumer(kind: keyof typeof kinds, compareMs = 600_000): EventConsumer {
  const consumer = kinds[kind](compareMs);
  consumers.push(consumer);
  consumer.start();
  return consumer;
}

describe.each(['single', 'batch'] as const)('a consumer of events (%s)', (kind) => {
  const start = (compareMs?: number) => startConsumer(kind, compareMs);

  test('reads again what its database has lost, while it runs, and stores all of it once', async () => {
    const consumer = start();
    await publish(upTo(10));
    await untilSettled(consumer, 'id-10');
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    await publish(upTo(20, 11));
    await untilSettled(consumer, 'id-20');
    const rewinds = (await alarms('rewinds')) ?? 0;
    await failOver();
    await publish(upTo(22, 21));
    await until(async () => (await effects()).includes(22));
    expect(await effects()).toEqual(upTo(22));
    expect(await row()).toBe(22);
    expect(await alarms('rewinds')).toBe(rewinds + 1);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'the database has lost commits; their records are read again',
        row: '10',
        from: '20',
      }),
    );
  });

  test('reads again what was lost twice in a row at the same place', async () => {
    const consumer = start();
    await publish(upTo(3));
    await untilSettled(consumer, 'id-3');
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    for (const last of [5, 7]) {
      await publish(upTo(last, last - 1));
      await until(async () => (await effects()).includes(last));
      await failOver();
    }
    await publish([8]);
    await until(async () => (await effects()).includes(8));
    expect(await effects()).toEqual(upTo(8));
  });

  test('reads everything again when even its first commit is lost', async () => {
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    const consumer = start();
    await publish(upTo(6));
    await untilSettled(consumer, 'id-6');
    await failOver();
    await publish([7]);
    await until(async () => (await effects()).includes(7));
    expect(await effects()).toEqual(upTo(7));
  });

  test('begins where its database is, with any commit of the group', async () => {
    await publish(upTo(12));
    const first = start();
    await untilSettled(first, 'id-6');
    await untilSettled(first, 'id-12');
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    await publish(upTo(18, 13));
    await untilSettled(first, 'id-18');
    await stopConsumers();
    await failOver();
    await publish([19]);
    start();
    await until(async () => (await effects()).includes(19));
    expect(await effects()).toEqual(upTo(19));
  });

  test('reads again what was lost of a partition in which nothing new arrives', async () => {
    const consumer = start(200);
    await publish(upTo(3));
    await untilSettled(consumer, 'id-3');
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    await publish(upTo(5, 4));
    await untilSettled(consumer, 'id-5');
    await failOver();
    await until(async () => (await effects()).length === 5);
    await stopConsumers();
    await failOver();
    start(200);
    await until(async () => (await effects()).length === 5);
    expect(await effects()).toEqual(upTo(5));
    expect(await row()).toBe(5);
  });

  test('begins where the group is when its database has no row', async () => {
    await publish(upTo(4));
    const first = start();
    await untilSettled(first, 'id-4');
    await stopConsumers();
    await database.db.raw('truncate effects, consumer_positions');
    await publish([5]);
    await untilSettled(start(), 'id-5');
    expect(await effects()).toEqual([5]);
    expect(await row()).toBe(5);
  });

  test('handles records again when the group is set back, and its row does not move back', async () => {
    await publish(upTo(6));
    const first = start();
    await untilSettled(first, 'id-6');
    await stopConsumers();
    await database.db.raw('delete from effects where version = 3');
    await atBroker(client, (admin) =>
      admin.setOffsets({
        groupId: client.nameOf(groupId),
        topic: client.nameOf(topic),
        partitions: [{ partition: 0, offset: '2' }],
      }),
    );
    start();
    await until(async () => (await effects()).includes(3));
    expect(await effects()).toEqual(upTo(6));
    expect(await row()).toBe(6);
    expect(errors()).toEqual([]);
  });

  test('goes on with an alarm when what was lost is no longer in the topic', async () => {
    const consumer = start();
    await publish(upTo(3));
    await untilSettled(consumer, 'id-3');
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    await publish(upTo(8, 4));
    await untilSettled(consumer, 'id-8');
    const gaps = (await alarms('gaps')) ?? 0;
    await removeRecordsBelow(client, topic, '6');
    await failOver();
    await publish([9]);
    await until(async () => (await effects()).includes(9));
    expect(await effects()).toEqual([1, 2, 3, 7, 8, 9]);
    expect(await row()).toBe(9);
    expect(await alarms('gaps')).toBe(gaps + 1);
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'records were removed before they were handled', from: '3', to: '6' }),
    );
  });

  test('handles all of a topic that was made anew, with an alarm, and keeps its place in it', async () => {
    await publish(upTo(9));
    await untilSettled(start(), 'id-9');
    await stopConsumers();
    const name = client.nameOf(topic);
    await atBroker(client, async (admin) => {
      await admin.deleteTopics({ topics: [name] });
      await until(async () => !(await admin.listTopics()).includes(name));
      await createTopics(admin, [{ topic: name, numPartitions: 1 }]);
    });
    const gaps = (await alarms('gaps')) ?? 0;
    await publish(upTo(13, 10));
    const second = start();
    await untilSettled(second, 'id-13');
    expect(await effects()).toEqual(upTo(13));
    expect(await row()).toBe(4);
    expect(await alarms('gaps')).toBe(gaps + 1);
    expect(errors()).toContain('the topic ends below the stored position: Kafka has lost its records');
    const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
    await publish([14]);
    await untilSettled(second, 'id-14');
    await failOver();
    await publish([15]);
    await until(async () => (await effects()).includes(15));
    expect(await effects()).toEqual(upTo(15));
  });

  test('takes the records of an aborted transaction for no gap', async () => {
    const consumer = start();
    await publish(upTo(2));
    await untilSettled(consumer, 'id-2');
    const transactional = kafka.client.kafka.producer({ transactionalId: kafka.topicPrefix, maxInFlightRequests: 1 });
    await transactional.connect();
    const transaction = await transactional.transaction();
    await transaction.send({ topic: client.nameOf(topic), messages: [{ key: 'a', value: 'gone' }] });
    await transaction.abort();
    await transactional.disconnect();
    await publish([3]);
    await untilSettled(consumer, 'id-3');
    await stopConsumers();
    await publish([4]);
    await untilSettled(start(), 'id-4');
    expect(await effects()).toEqual(upTo(4));
    expect(await row()).toBe(6);
    expect(lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });

  test('moves its position over what it passes over and puts aside, and keeps no effect of a failed handler', async () => {
    const consumer = start();
    const wrong = { ce_id: 'wrong', ce_type: thingChanged.type, ce_source: 'test' };
    const skipped = { ce_id: 'skipped', ce_type: 'test.unknown.v1', ce_source: 'test' };
    refused.add(2);
    try {
      await publish(upTo(3));
      expect(await untilSettled(consumer, 'id-3')).toBe('handled');
      expect(await untilSettled(consumer, 'id-2')).toBe('dead-lettered');
      await producer.publishRaw([{ topic, key: 'a', value: '{}', headers: wrong }]);
      expect(await untilSettled(consumer, 'wrong')).toBe('dead-lettered');
      expect(await row()).toBe(4);
      await producer.publishRaw([{ topic, key: 'a', value: '{}', headers: skipped }]);
      expect(await untilSettled(consumer, 'skipped')).toBe('skipped');
      expect(await row()).toBe(5);
    } finally {
      refused.clear();
    }
    expect(await effects()).toEqual([1, 3]);
    expect((await listDlq(kafka.client, topic)).map(({ reason }) => reason).sort()).toEqual([
      'handler_failed',
      'invalid_data',
    ]);
  });

  test('waits for the table of positions and puts nothing aside for it', async () => {
    const { db } = database;
    await db.raw('alter table consumer_positions rename to not_yet');
    try {
      await publish(upTo(3));
      start();
      const retries = (await alarms('retries')) ?? 0;
      await until(async () => ((await alarms('retries')) ?? 0) >= retries + 4);
      expect(await effects()).toEqual([]);
    } finally {
      await db.raw('alter table not_yet rename to consumer_positions');
    }
    await until(async () => (await effects()).length === 3);
    expect(await listDlq(kafka.client, topic)).toEqual([]);
  });
});

test('tells the handler of a batch which records it reads again', async () => {
  Object.assign(handled, { first: [], again: [] });
  const consumer = startConsumer('batch');
  await publish(upTo(4));
  await untilSettled(consumer, 'id-4');
  const failOver = await rememberTables(database.db, ['effects', 'consumer_positions']);
  await publish(upTo(8, 5));
  await untilSettled(consumer, 'id-8');
  await failOver();
  await publish([9]);
  await until(async () => (await effects()).includes(9));
  await publish([10]);
  await untilSettled(consumer, 'id-10');
  expect(handled).toEqual({ first: [...upTo(8), 9, 10], again: upTo(8, 5) });
});

test('hands on records from the earliest one when its database is empty and can be made again', async () => {
  const begin = (options: { rebuilds?: boolean; compareMs?: number } = {}) => {
    const consumer = kinds.single(600_000, options);
    consumers.push(consumer);
    consumer.start();
    return consumer;
  };
  await publish(upTo(4));
  await untilSettled(begin(), 'id-4');
  await stopConsumers();
  await database.db.raw('truncate effects, consumer_positions');
  await removeRecordsBelow(client, topic, '1');
  // Nothing new arrives: the partition is at rest where the group has committed.
  begin({ rebuilds: true, compareMs: 200 });
  await until(async () => (await effects()).length === 3);
  expect(await effects()).toEqual([2, 3, 4]);
  await publish([5]);
  await until(async () => (await effects()).includes(5));
  await stopConsumers();
  await database.db.raw('truncate effects, consumer_positions');
  await publish([6]);
  await untilSettled(begin({ rebuilds: true }), 'id-6');
  expect(await effects()).toEqual([2, 3, 4, 5, 6]);
  expect(await row()).toBe(6);
});
