import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { comparePositions } from '../src/compare-positions.ts';
import { consumerSignals } from '../src/consumer-signals.ts';
import { createPartitionCursors } from '../src/partition-cursors.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { createProducer } from '../src/producer.ts';
import { passRecords } from '../src/progress.ts';
import type { EffectTransaction } from '../src/progress.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { topic } from './support/events.ts';

// Members of a group that hold one partition at the same time, which a group gives out only after long silences.
let database: TestDatabase;
let kafka: TestKafka;
const END = 20;

beforeAll(async () => {
  database = await createTestDatabase([
    positionsMigration,
    positionEpochsMigration,
    {
      name: 'effects',
      up: (db) => db.raw('create table effects (who text not null, upto int not null)'),
      down: (db) => db.raw('drop table effects'),
    },
  ]);
  kafka = await testKafka({ topics: [topic], partitions: 1 });
  const producer = createProducer(kafka.client);
  await producer.publishRaw(Array.from({ length: END }, (_, at) => ({ topic, key: 'a', value: String(at) })));
  await producer.stop();
});
beforeEach(() => database.db.raw('truncate effects, consumer_positions'));
afterAll(async () => {
  await kafka.close();
  await database.drop();
});

/** A member that the group gave the partition at `first`; a `former` member is refused by the group. */
function member(who: string, first: number, { former = false } = {}) {
  const cursors = createPartitionCursors();
  const at = { topic: kafka.client.nameOf(topic), partition: 0 };
  cursors.batchBegins({ ...at, batchSize: END, firstOffset: String(first), lastOffset: String(END) });
  const sought: bigint[] = [];
  const refusal = Object.assign(new Error('not known'), { name: 'KafkaJSProtocolError', type: 'UNKNOWN_MEMBER_ID' });
  const control = {
    seek: (_topic: string, _partition: number, offset: bigint) => void sought.push(offset),
    commit: () => (former ? Promise.reject(refusal) : Promise.resolve()),
    commitSoon: () => undefined,
  };
  const signals = consumerSignals('members');
  const deps = { db: database.db, kafka: kafka.client, groupId: 'members', cursors, control, signals };
  const retries = {
    maxAttempts: 1,
    heartbeat: () => Promise.resolve(),
    signal: new AbortController().signal,
    onRetry: () => undefined,
  };
  /** `meanwhile` happens in the transaction, which has moved the position by then. */
  const pass = (next: number, meanwhile: () => Promise<void> = () => Promise.resolve()) => {
    const work = async (transaction: EffectTransaction) => {
      await transaction(async (tx) => {
        await tx('effects').insert({ who, upto: next });
        await meanwhile();
      });
    };
    return passRecords(deps, { ...at, next: BigInt(next) }, work, retries);
  };
  return { pass, sought, compare: () => comparePositions(deps) };
}

const effects = () => database.db('effects').orderBy('upto').select('who', 'upto');
const row = async () =>
  (await database.db('consumer_positions').first<{ next_offset: number } | undefined>('next_offset'))?.next_offset;

test('a member that lost its partition has no effect and does not move the position back', async () => {
  const old = member('old', 0);
  expect(await old.pass(5)).toBe('passed');
  const next = member('new', 5);
  expect(await next.pass(9)).toBe('passed');
  expect(await next.pass(12)).toBe('passed');
  const awake = member('old', 5, { former: true });
  await expect(awake.pass(7)).rejects.toThrow('not known');
  expect(awake.sought).toEqual([]);
  expect(await effects()).toEqual([
    { who: 'old', upto: 5 },
    { who: 'new', upto: 9 },
    { who: 'new', upto: 12 },
  ]);
  expect(await row()).toBe(12);
});

test('of two members with the same records the second waits for the first and has no effect when it is out', async () => {
  await member('before', 0).pass(5);
  const { entered, hold, release } = gate();
  const first = member('first', 5).pass(9, () => hold());
  await entered;
  const second = member('second', 5, { former: true }).pass(8);
  await until(async () => (await waiting()) > 0);
  release();
  expect(await first).toBe('passed');
  await expect(second).rejects.toThrow('not known');
  expect(await effects()).toEqual([
    { who: 'before', upto: 5 },
    { who: 'first', upto: 9 },
  ]);
  expect(await row()).toBe(9);
});

test('of two members that make the row at the same time one goes on and the other is asked who it is', async () => {
  const { entered, hold, release } = gate();
  const first = member('first', 0).pass(4, () => hold());
  await entered;
  const second = member('second', 0, { former: true }).pass(3);
  await until(async () => (await waiting()) > 0);
  release();
  expect(await first).toBe('passed');
  await expect(second).rejects.toThrow('not known');
  expect(await effects()).toEqual([{ who: 'first', upto: 4 }]);
  expect(await row()).toBe(4);
});

test('a member that is one repeats records that are behind the row, without moving it back', async () => {
  await member('before', 0).pass(12);
  const again = member('again', 5);
  expect(await again.pass(8)).toBe('passed');
  expect(await row()).toBe(12);
  expect(await again.pass(15)).toBe('passed');
  expect(await row()).toBe(15);
  expect((await effects()).map(({ upto }: { upto: number }) => upto)).toEqual([8, 12, 15]);
});

test('what was fetched before a loss was found at rest is dropped', async () => {
  const one = member('one', 0);
  await one.pass(9);
  await database.db('consumer_positions').update({ next_offset: 3 });
  await one.compare();
  expect(one.sought).toEqual([3n]);
  expect(await one.pass(12)).toBe('sought');
  expect(await effects()).toEqual([{ who: 'one', upto: 9 }]);
  expect(await row()).toBe(3);
});

test('a transaction cannot be begun twice in one delivery', async () => {
  const cursors = createPartitionCursors();
  const at = { topic: kafka.client.nameOf(topic), partition: 0 };
  cursors.batchBegins({ ...at, batchSize: 1, firstOffset: '0', lastOffset: '0' });
  const control = { seek: () => undefined, commit: () => Promise.resolve(), commitSoon: () => undefined };
  const signals = consumerSignals('members');
  const passing = await passRecords(
    { db: database.db, kafka: kafka.client, groupId: 'members', cursors, control, signals },
    { ...at, next: 1n },
    async (transaction) => {
      await transaction((tx) => tx('effects').insert({ who: 'one', upto: 1 }));
      await transaction((tx) => tx('effects').insert({ who: 'two', upto: 1 }));
    },
    {
      maxAttempts: 1,
      heartbeat: () => Promise.resolve(),
      signal: new AbortController().signal,
      onRetry: () => undefined,
    },
  );
  expect(passing).toEqual({ failure: expect.objectContaining({ message: 'one delivery has one transaction' }) });
});

/** Holds a transaction open between `entered` and `release`. */
function gate() {
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const hold = () => {
    enter();
    return released;
  };
  return { entered, hold, release };
}

/** How many sessions wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await database.db.raw<{ rows: unknown[] }>(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}
