import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDb } from '@vision/shared/db/knex';
import { createDueWorkPoller } from '@vision/shared/db/due-work';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '../src/kafka.ts';
import { appendEvent, outboxMigration } from '../src/outbox.ts';
import { createProducer } from '../src/producer.ts';
import type { EventProducer, TracedEvent } from '../src/producer.ts';
import { republish } from '../src/republish.ts';
import { createRelay } from '../src/relay.ts';
import type { Relay, RelayOptions } from '../src/relay.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { changed, thingChanged, topic } from './support/events.ts';
import { readTopic } from './support/read-topic.ts';
import { createTcpForwarder } from './support/tcp-forwarder.ts';

const logger = createLogger('test', 'silent');
let database: TestDatabase;
let kafka: TestKafka;
const relays: Relay[] = [];

beforeAll(async () => {
  database = await createTestDatabase([outboxMigration], { poolMax: 8 });
  kafka = await testKafka({ topics: [topic] });
});
beforeEach(async () => {
  await database.db('outbox').delete();
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});
afterAll(async () => {
  await database.drop();
  await kafka.close();
});

/** Stands for Kafka where a test is about the order and number of publications, not about the broker. */
function recorder(before: (events: TracedEvent[]) => Promise<void> = () => Promise.resolve()) {
  const published: string[] = [];
  const producer = {
    publishTraced: async (events: TracedEvent[]) => {
      await before(events);
      published.push(...events.map(({ event }) => nameOf(event.data)));
    },
  } as EventProducer;
  return { producer, published };
}

const nameOf = (data: unknown) => {
  const { thing, version } = data as { thing: string; version: number };
  return `${thing}${version}`;
};
const start = (options: Partial<RelayOptions> & { producer: EventProducer }) => {
  const relay = createRelay({ db: database.db, logger, intervalMs: 20, ...options });
  relays.push(relay);
  relay.start();
  return relay;
};
const append = (thing: string, version: number) =>
  inTransaction(database.db, (tx) => appendEvent(tx, changed(thing, version)));
const unpublished = async () =>
  (await database.db('outbox').whereNull('published_at').pluck<string[]>('event_id')).length;

test('an event of a transaction that commits late with a smaller id is not lost', async () => {
  const early = await database.db.transaction();
  await appendEvent(early, changed('late', 1));
  await append('fast', 1);
  const { producer, published } = recorder();
  start({ producer });
  await until(() => published.includes('fast1'));
  await early.commit();
  await until(() => published.includes('late1'));
  expect(published).toEqual(['fast1', 'late1']);
});

test('an event of a rolled back transaction is never published, and the transaction of a wrong event fails', async () => {
  const { producer, published } = recorder();
  await expect(
    inTransaction(database.db, async (tx) => {
      await appendEvent(tx, changed('a', 1));
      await appendEvent(tx, { ...changed('b', 1), data: { thing: 'b', version: 1.5 } });
    }),
  ).rejects.toThrow();
  const big = { ...changed('big', 1), data: { thing: 'x'.repeat(300_000), version: 1 } };
  await expect(inTransaction(database.db, (tx) => appendEvent(tx, big))).rejects.toThrow('too many for Kafka');
  await append('c', 1);
  start({ producer });
  await until(() => published.includes('c1'));
  expect(published).toEqual(['c1']);
});

test('of two relays one publishes, and the other takes over when the first goes', async () => {
  const first = recorder();
  const second = recorder();
  const one = start({ producer: first.producer });
  await until(() => one.isActive());
  const db = createDb({ url: database.url, applicationName: 'other-process' });
  const two = start({ db, producer: second.producer });
  for (let version = 1; version <= 20; version += 1) await append('a', version);
  await until(async () => (await unpublished()) === 0);
  expect(first.published).toHaveLength(20);
  expect(second.published).toEqual([]);
  expect(two.isActive()).toBe(false);
  await one.stop();
  await append('b', 1);
  await until(() => second.published.includes('b1'));
  await two.stop();
  await db.destroy();
});

test('an event of a process whose relay stands by is published at once, by the other', async () => {
  const { producer, published } = recorder();
  const one = start({ producer, intervalMs: 3_600_000 });
  await until(() => one.isActive());
  const db = createDb({ url: database.url, applicationName: 'other-process' });
  const two = start({ db, producer: recorder().producer, intervalMs: 3_600_000 });
  for (let version = 1; version <= 5; version += 1) {
    await append('a', version);
    two.wake();
    await until(() => published.includes(`a${version}`));
  }
  await two.stop();
  await db.destroy();
});

test('an event without an announcement is found, and so are those behind it, soon', async () => {
  const { producer, published } = recorder();
  const relay = start({ producer, intervalMs: 12_000 });
  await until(() => relay.isActive());
  await append('a', 1);
  await database.db('outbox').update({ created_at: database.db.raw(`created_at - interval '5 seconds'`) });
  await until(() => published.includes('a1'));
  const begun = performance.now();
  for (let version = 2; version <= 6; version += 1) {
    await append('a', version);
    await until(() => published.includes(`a${version}`));
  }
  // Each of them would wait for a whole interval otherwise.
  expect(performance.now() - begun).toBeLessThan(40_000);
});

test('an event without an announcement is found by those who look for the relay that publishes', async () => {
  const { producer, published } = recorder();
  const relay = start({ producer, intervalMs: 3_600_000 });
  await until(() => relay.isActive());
  const dueWork = createDueWorkPoller({ db: database.db, logger, intervalMs: 20, dueWork: [relay.dueWork] });
  dueWork.start();
  try {
    await append('a', 1);
    await until(() => published.includes('a1'));
  } finally {
    await dueWork.stop();
  }
});

test('a relay whose connection was killed takes the lock again and goes on', async () => {
  const { producer, published } = recorder();
  const relay = start({ producer });
  await append('a', 1);
  await until(() => published.includes('a1'));
  await database.db.raw(`select pg_terminate_backend(l.pid) from pg_locks l where l.locktype = 'advisory'
    and l.database = (select oid from pg_database where datname = current_database())`);
  await append('a', 2);
  await until(() => published.includes('a2'));
  expect(relay.isActive()).toBe(true);
});

test('killed between publish and mark: the event comes twice, none is lost', async () => {
  let kills = 1;
  const { producer, published } = recorder();
  const dying: EventProducer = {
    ...producer,
    publishTraced: async (events) => {
      await producer.publishTraced(events);
      if (events.length > 0 && kills-- > 0) throw fail.sysUnavailable('worker_died');
    },
  };
  await append('a', 1);
  await append('a', 2);
  start({ producer: dying });
  await until(async () => (await unpublished()) === 0);
  expect(published).toEqual(['a1', 'a2', 'a1', 'a2']);
});

test('stop waits for the batch under way and marks it', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let entered = false;
  const { producer } = recorder(async (events) => {
    if (events.length === 0) return;
    entered = true;
    await held;
  });
  const relay = start({ producer });
  await append('a', 1);
  await until(() => entered);
  const stopped = relay.stop();
  release();
  await stopped;
  expect(await unpublished()).toBe(0);
});

test('published rows are removed after their time', async () => {
  const { producer, published } = recorder();
  await append('a', 1);
  start({ producer, keepPublishedMs: 0 });
  await until(() => published.includes('a1'));
  await append('a', 2);
  await until(async () => (await database.db('outbox').count<[{ count: number }]>()).at(0)?.count === 0);
});

test('however many rows are too old, they are removed to the end', async () => {
  await database.db.raw(
    `insert into outbox (event_id, topic, key, type, source, payload, published_at)
     select gen_random_uuid(), 'things', n, 'changed', 'test', '{}', now() - interval '8 days'
       from generate_series(1, 2500) as n`,
  );
  start({ producer: recorder().producer, intervalMs: 3_600_000 });
  await until(async () => (await database.db('outbox').count<[{ count: number }]>()).at(0)?.count === 0);
});

test('a wake publishes at once, long before the interval is over', async () => {
  const { producer, published } = recorder();
  const relay = start({ producer, intervalMs: 60_000 });
  await until(() => relay.isActive());
  await append('a', 1);
  relay.wake();
  await until(() => published.includes('a1'));
});

test('events of one key arrive on Kafka in the order of their commits, with all event attributes', async () => {
  const producer = createProducer(kafka.client);
  // More than the relay takes at once.
  const count = 120;
  for (let version = 1; version <= count; version += 1) {
    await Promise.all([append('x', version), append('y', version)]);
  }
  start({ producer });
  const records = await readTopic(kafka.client, topic, 2 * count);
  for (const thing of ['x', 'y']) {
    const versions = records
      .filter(({ key }) => key === thing)
      .map(({ data }) => (data as { version: number }).version);
    expect(versions).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  }
  expect(records[0]?.headers).toMatchObject({
    ce_specversion: '1.0',
    ce_type: thingChanged.type,
    ce_source: 'test',
    'content-type': 'application/json',
    ce_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ce_time: expect.stringMatching(/Z$/),
  });
  await producer.stop();
});

test('with Kafka away at the start events wait, and go out when it comes', async () => {
  const forwarder = await createTcpForwarder(kafka.brokers[0] ?? '');
  const client = createKafka({
    brokers: [forwarder.address],
    clientId: 'gated',
    logger,
    topicPrefix: kafka.topicPrefix,
  });
  const producer = createProducer(client);
  await append('gated', 1);
  start({ producer });
  await expect(producer.publish([changed('direct', 1)])).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await unpublished()).toBe(1);
  await forwarder.open();
  await until(async () => (await unpublished()) === 0);
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
  await producer.stop();
  await forwarder.close();
});

test('published events of a time are counted, and published again in their order page by page', async () => {
  const { producer, published } = recorder();
  start({ producer });
  for (const version of [1, 2, 3]) await append('again', version);
  await until(async () => (await unpublished()) === 0);
  published.length = 0;
  const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
  const deps = { db: database.db, producer };
  const counted = await republish(deps, { ...range, dry_run: true, limit: 2 });
  expect(counted).toMatchObject({ events: 3, by_type: { [thingChanged.type]: 3 }, next_cursor: '' });
  expect(published).toEqual([]);
  const first = await republish(deps, { ...range, dry_run: false, limit: 2 });
  const second = await republish(deps, { ...range, dry_run: false, limit: 2, after: first.next_cursor });
  expect([first.events, second.events, second.next_cursor]).toEqual([2, 1, '']);
  expect(published.slice(0, 3)).toEqual(['again1', 'again2', 'again3']);
  const early = { from: '2020-01-01T00:00:00.000Z', to: range.from, dry_run: false, limit: 2 };
  expect(await republish(deps, early)).toMatchObject({ events: 0, next_cursor: '' });
});

test('events of days are counted once each, with hours that begin and end at any instant', async () => {
  const { producer } = recorder();
  start({ producer });
  await Promise.all(Array.from({ length: 5 }, (_, index) => append('days', index)));
  await until(async () => (await unpublished()) === 0);
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
  await database.db.raw(
    `with numbered as (select id, row_number() over (order by id) as n from outbox)
     update outbox set published_at = (array['2026-03-10T08:00:00Z', '2026-03-10T09:00:00Z', '2026-03-10T09:00:00.000001Z',
                                             '2026-03-12T20:30:00Z', '2026-03-14T08:00:00Z']::timestamptz[])[n]
       from numbered where numbered.id = outbox.id`,
  );
  const count = async (from: string, to: string) => {
    const {
      events,
      first_at: first,
      last_at: last,
    } = await republish(
      { db: database.db, producer },
      { from: new Date(from).toISOString(), to: new Date(to).toISOString(), dry_run: true, limit: 1 },
    );
    return [events, first, last];
  };
  const [first, last] = ['2026-03-10T08:00:00.000Z', '2026-03-14T08:00:00.000Z'];
  expect(await count('2000-01-01', '2100-01-01')).toEqual([5, first, last]);
  expect(await count(first, last)).toEqual([4, first, '2026-03-12T20:30:00.000Z']);
  expect(await count('2026-03-10T09:00:00Z', '2026-03-10T09:00:00.001Z')).toEqual([
    2,
    '2026-03-10T09:00:00.000Z',
    '2026-03-10T09:00:00.000Z',
  ]);
  expect(await count('2026-03-11', '2026-03-12')).toEqual([0, undefined, undefined]);
});
