import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { rememberTables } from '@vision/shared/testing/lost-commits';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import type { EventConsumer } from '../src/consumer.ts';
import { createConsumer } from '../src/consumer.ts';
import { createProducer } from '../src/producer.ts';
import { on } from '../src/subscription.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { effectsMigrations } from './support/effects.ts';
import { changed, thingChanged, topic } from './support/events.ts';

const PARTITIONS = 3;
let database: TestDatabase;
let kafka: TestKafka;
const consumers: EventConsumer[] = [];

beforeAll(async () => {
  kafka = await testKafka({ topics: [topic], partitions: PARTITIONS });
  database = await createTestDatabase(effectsMigrations);
});
const stopConsumers = () => Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
afterEach(stopConsumers);
afterAll(async () => {
  await kafka.close();
  await database.drop();
});

function startConsumer(): void {
  const consumer = createConsumer({
    db: database.db,
    kafka: kafka.client,
    groupId: 'idle',
    subscriptions: [
      on(thingChanged, ({ data }, { transaction }) =>
        transaction(async (tx) => {
          await tx('effects').insert({ version: data.version });
        }),
      ),
    ],
    onFatal: (error) => {
      throw error;
    },
    // Joining alone has to do it.
    compareMs: 3_600_000,
  });
  consumers.push(consumer);
  consumer.start();
}

const effects = () => database.db('effects').orderBy('version').pluck<number[]>('version');
const offsets = () => database.db('consumer_positions').orderBy('partition').pluck<number[]>('next_offset');

test('a database that is set back reads again what came to partitions in which nothing was', async () => {
  startConsumer();
  await until(async () => (await offsets()).length === PARTITIONS);
  expect(await offsets()).toEqual([0, 0, 0]);
  const setBack = await rememberTables(database.db, ['effects', 'consumer_positions']);
  const producer = createProducer(kafka.client);
  await producer.publish([1, 2, 3, 4, 5, 6].map((version) => changed('a-thing', version)));
  await producer.stop();
  await until(async () => (await effects()).length === 6);
  await stopConsumers();
  await setBack();
  startConsumer();
  await until(async () => (await effects()).length === 6);
  expect(await effects()).toEqual([1, 2, 3, 4, 5, 6]);
});
