import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDb } from '@vision/shared/db/knex';
import { openSession, tryLock } from '@vision/shared/db/session';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import { createConsumer } from '../src/consumer.ts';
import { appendEvent, outboxMigration } from '../src/outbox.ts';
import { outboxKeyMigration } from '../src/outbox-history.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { createProducer } from '../src/producer.ts';
import { createRelay } from '../src/relay.ts';
import { on } from '../src/subscription.ts';
import { createCensus } from '@vision/shared/async/census';
import { testKafka } from '../src/testing/kafka.ts';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { changed, thingChanged, topic } from './support/events.ts';

const metrics = testMetrics();
const logger = createLogger('gauges', 'silent');
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([
    positionsMigration,
    positionEpochsMigration,
    outboxMigration,
    outboxKeyMigration,
  ]);
});
afterAll(() => database.drop());

test('a pool shows who waits for a connection and for how long, and nothing once it is closed', async () => {
  const db = createDb({ url: database.url, poolMax: 1, applicationName: 'gauges' });
  const shown = (state: string) => metrics.sumOf('vision.db.pool.connections', { state });
  const before = (await metrics.sumOf('vision.db.pool.wait')) ?? 0;
  const limit = Number(await metrics.sumOf('vision.db.pool.limit'));
  const tx = await db.transaction();
  const waiting = db.raw('select 1');
  const answer = waiting.then(() => true);
  await until(async () => (await shown('waiting')) === 1);
  expect(await shown('used')).toBeGreaterThan(0);
  expect(limit).toBeGreaterThan(0);
  await tx.rollback();
  await answer;
  await until(async () => (await shown('waiting')) === 0);
  expect(Number(await metrics.sumOf('vision.db.pool.wait')) - before).toBeGreaterThanOrEqual(2);
  await db.destroy();
});

test('a consumer shows the partitions that it holds while it holds them, and strange types under one word', async () => {
  const kafka = await testKafka({ topics: [topic], partitions: 2 });
  const producer = createProducer(kafka.client);
  const consumer = createConsumer({
    db: database.db,
    kafka: kafka.client,
    groupId: 'gauges',
    subscriptions: [on(thingChanged, () => Promise.resolve())],
    onFatal: () => undefined,
  });
  const held = () => metrics.sumOf('vision.consumer.partitions', { group: 'gauges', topic });
  try {
    expect(await held()).toBeUndefined();
    consumer.start();
    await until(async () => (await held()) === 2);
    const strange = { ...changed('a', 1), type: 'made.up.by.somebody' };
    await producer.publish([strange]);
    const handled = (type: string) => metrics.sumOf('vision.consumer.events', { group: 'gauges', type });
    await until(async () => (await handled('other')) === 1);
    expect(await handled(strange.type)).toBe(0);
    await until(async () => (await metrics.sumOf('vision.consumer.lag', { group: 'gauges', topic })) === 0);
  } finally {
    await consumer.stop();
    await producer.stop();
    await kafka.close();
  }
  expect(await held()).toBeUndefined();
  expect(await metrics.sumOf('vision.consumer.lag', { group: 'gauges' })).toBeUndefined();
});

test('a relay that publishes shows the outbox; one that stopped shows nothing', async () => {
  const kafka = await testKafka({ topics: [topic] });
  const producer = createProducer(kafka.client);
  const relay = createRelay({ db: database.db, producer, logger, intervalMs: 50 });
  const age = () => metrics.sumOf('vision.outbox.oldest_age');
  expect(await age()).toBeUndefined();
  relay.start();
  await until(async () => (await age()) === 0);
  await relay.stop();
  expect(await age()).toBeUndefined();
  await producer.stop();
  await kafka.close();
});

test('a relay that stands by shows the age of the outbox, as the active one may hang', async () => {
  const kafka = await testKafka({ topics: [topic] });
  const producer = createProducer(kafka.client);
  await inTransaction(database.db, (tx) => appendEvent(tx, changed('stuck', 1)));
  const stuck = () => database.db('outbox').where({ key: 'stuck' });
  await stuck().update({ created_at: database.db.raw(`now() - interval '2 minutes'`) });
  const hanging = await openSession(database.db, () => undefined);
  expect(await tryLock(hanging, 'outbox-relay')).toBe(true);
  const relay = createRelay({ db: database.db, producer, logger, intervalMs: 50 });
  relay.start();
  await until(async () => ((await metrics.sumOf('vision.outbox.oldest_age')) ?? 0) >= 120);
  expect(relay.isActive()).toBe(false);
  // Once it takes over, it shows what it sees itself.
  await hanging.close();
  await until(async () => (await stuck().whereNull('published_at')).length === 0);
  await until(async () => (await metrics.sumOf('vision.outbox.oldest_age')) === 0);
  await relay.stop();
  await producer.stop();
  await kafka.close();
});

test('an event does not count as waiting between its publication and the next poll', async () => {
  const kafka = await testKafka({ topics: [topic] });
  const producer = createProducer(kafka.client);
  const relay = createRelay({ db: database.db, producer, logger, intervalMs: 3_600_000 });
  relay.start();
  await until(async () => (await metrics.sumOf('vision.outbox.oldest_age')) === 0);
  await inTransaction(database.db, (tx) => appendEvent(tx, changed('gauged', 1)));
  relay.wake();
  await until(async () => (await database.db('outbox').whereNull('published_at').pluck<string[]>('id')).length === 0);
  await until(async () => (await metrics.sumOf('vision.outbox.waiting')) === 0);
  expect(await metrics.sumOf('vision.outbox.oldest_age')).toBe(0);
  await relay.stop();
  await producer.stop();
  await kafka.close();
});

test('while a store does not answer, what was found in it before is not shown', async () => {
  const shown: (number | undefined)[] = [];
  let isAway = false;
  const census = createCensus({
    name: 'census',
    ask: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(7)),
    show: (found) => void shown.push(found),
    logger,
  });
  census.start();
  await until(() => shown.length === 1);
  isAway = true;
  census.wake();
  await until(() => shown.length === 2);
  await census.stop();
  expect(shown).toEqual([7, undefined]);
});
