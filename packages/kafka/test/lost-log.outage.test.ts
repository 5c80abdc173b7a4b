import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { createConsumer } from '../src/consumer.ts';
import { consumerSignals } from '../src/consumer-signals.ts';
import { createKafka } from '../src/kafka.ts';
import { createPartitionCursors } from '../src/partition-cursors.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { createProducer } from '../src/producer.ts';
import { passRecords } from '../src/progress.ts';
import { on } from '../src/subscription.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { changed, thingChanged, topic } from './support/events.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

// An election has lost records, and the log has grown past the position since.
const metrics = testMetrics();
let database: TestDatabase;
let kafka: TestKafka;
let lines: { level: string; msg: string }[];
const END = 20;
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

beforeAll(async () => {
  database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
  kafka = await testKafka({ topics: [topic], partitions: 1 });
  const producer = createProducer(kafka.client);
  await producer.publishBatch(upTo(END).map((version) => ({ ...changed('a', version), id: `id-${version}` })));
  await producer.stop();
});
beforeEach(async () => {
  await database.db.raw('truncate consumer_positions');
  lines = [];
});
afterAll(async () => {
  await kafka.close();
  await database.drop();
});

const errors = () => lines.filter(({ level }) => level === 'error').map(({ msg }) => msg);
const gaps = async (reason: string) => (await metrics.sumOf('vision.consumer.gaps', { reason })) ?? 0;
const row = () => database.db('consumer_positions').first<unknown>('next_offset', 'leader_epoch', 'epoch_offset');
const client = () => {
  const logger = createLogger('test', 'info', {
    write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]),
  });
  return createKafka({ brokers: kafka.brokers, clientId: 'test', logger, topicPrefix: kafka.topicPrefix });
};

/** A member of the group that is given records of the leaders that a test names. */
function member() {
  const cursors = createPartitionCursors();
  const at = { topic: kafka.client.nameOf(topic), partition: 0 };
  const sought: bigint[] = [];
  const control = {
    seek: (_topic: string, _partition: number, offset: bigint) => void sought.push(offset),
    commit: () => Promise.resolve(),
    commitSoon: () => undefined,
  };
  const signals = consumerSignals('members');
  const deps = { db: database.db, kafka: client(), groupId: 'members', cursors, control, signals };
  const retries = {
    maxAttempts: 1,
    heartbeat: () => Promise.resolve(),
    signal: new AbortController().signal,
    onRetry: () => undefined,
  };
  /** Records from one offset to before another; the epochs of the first and the last. */
  const read = (from: number, next: number, first: number, last = first) => {
    cursors.batchBegins({ ...at, batchSize: next - from, firstOffset: String(from), lastOffset: String(next - 1) });
    const records = { ...at, next: BigInt(next), epochs: { first, last } };
    return passRecords(deps, records, (transaction) => transaction(() => Promise.resolve()), retries);
  };
  return { read, sought };
}

test('a consumer handles what stands below its position now, with an alarm', async () => {
  const handled: number[] = [];
  const start = () => {
    const consumer = createConsumer({
      db: database.db,
      kafka: client(),
      groupId: 'keepers',
      subscriptions: [
        on(thingChanged, async ({ data }, { transaction }) => {
          await transaction(() => Promise.resolve());
          handled.push(data.version);
        }),
      ],
      onFatal: (error) => {
        throw error;
      },
    });
    consumer.start();
    return consumer;
  };
  const first = start();
  await untilSettled(first, `id-${END}`);
  await first.stop();
  expect(await row()).toEqual({ next_offset: END, leader_epoch: 0, epoch_offset: END });
  // What it had read was of an older leader than anything that the broker has now.
  await database.db('consumer_positions').update({ next_offset: 15, epoch_offset: 15, leader_epoch: -1 });
  await setGroup('keepers', 15);
  handled.length = 0;
  const before = await gaps('truncated');
  const second = start();
  await until(() => handled.includes(END));
  await second.stop();
  expect(handled).toEqual(upTo(END));
  expect(await row()).toEqual({ next_offset: END, leader_epoch: 0, epoch_offset: END });
  expect(await gaps('truncated')).toBe(before + 1);
  expect(errors()).toEqual(['the broker has lost records below the position; what stands there now is handled']);
});

test('a new leader with the same log costs a repeated record and no alarm', async () => {
  const { read, sought } = member();
  expect(await read(0, 5, 3)).toBe('passed');
  expect(await read(5, 9, 4)).toBe('sought');
  expect(sought).toEqual([4n]);
  expect(await read(4, 9, 3, 4)).toBe('passed');
  expect(await row()).toEqual({ next_offset: 9, leader_epoch: 4, epoch_offset: 9 });
  expect(errors()).toEqual([]);
});

test('records that come one by one are compared once for each new leader', async () => {
  const { read, sought } = member();
  await read(0, 5, 3);
  expect(await read(5, 6, 4)).toBe('sought');
  expect(await read(4, 5, 3)).toBe('passed');
  expect(await read(5, 6, 4)).toBe('passed');
  expect(await read(6, 7, 4)).toBe('passed');
  expect(sought).toEqual([4n]);
  expect(await row()).toEqual({ next_offset: 7, leader_epoch: 4, epoch_offset: 7 });
});

test('the way back ends at a record that is as old as what was read, and the row follows the new log', async () => {
  const { read, sought } = member();
  await read(0, 12, 3);
  const before = await gaps('truncated');
  for (const from of [12, 11, 10, 8]) expect(await read(from, from + 1, 5)).toBe('sought');
  expect(sought).toEqual([11n, 10n, 8n, 4n]);
  expect(await read(4, 8, 3)).toBe('passed');
  expect(await row()).toEqual({ next_offset: 8, leader_epoch: 3, epoch_offset: 8 });
  expect(await gaps('truncated')).toBe(before + 1);
  const next = member();
  expect(await next.read(8, 14, 3, 5)).toBe('passed');
  expect(next.sought).toEqual([]);
});

test('a topic that was made anew and has grown past the position is handled from its beginning', async () => {
  const { read, sought } = member();
  await read(0, 12, 3);
  const before = await gaps('log_restarted');
  expect(await read(12, 14, 0)).toBe('sought');
  expect(sought).toEqual([0n]);
  expect(await read(0, 14, 0)).toBe('passed');
  expect(await row()).toEqual({ next_offset: 14, leader_epoch: 0, epoch_offset: 14 });
  expect(await gaps('log_restarted')).toBe(before + 1);
  expect(errors()).toEqual(['the topic was made anew and has grown past the position; all of it is handled']);
});

test('a position that a release without epochs has moved is compared with nothing', async () => {
  const { read, sought } = member();
  await read(0, 5, 3);
  await database.db('consumer_positions').update({ next_offset: 9 });
  expect(await member().read(9, 12, 7)).toBe('passed');
  expect(sought).toEqual([]);
  expect(await row()).toEqual({ next_offset: 12, leader_epoch: 7, epoch_offset: 12 });
});

async function setGroup(groupId: string, offset: number): Promise<void> {
  const admin = kafka.client.kafka.admin();
  await admin.connect();
  try {
    const partitions = [{ partition: 0, offset: String(offset) }];
    await admin.setOffsets({ groupId: kafka.client.nameOf(groupId), topic: kafka.client.nameOf(topic), partitions });
  } finally {
    await admin.disconnect();
  }
}
