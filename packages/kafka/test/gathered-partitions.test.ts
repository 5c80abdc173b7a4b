import { afterEach, beforeAll, expect, test } from '@jest/globals';
import type { BatchConsumerOptions } from '../src/batch-consumer.ts';
import { listDlq } from '../src/dlq.ts';
import { isEvent } from '../src/subscription.ts';
import { until } from '@vision/shared/testing/until';
import { useBatchConsumers } from './support/batch-consumers.ts';
import { changed, thingChanged, topic } from './support/events.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

const PARTITIONS = 24;
const THINGS = Array.from({ length: 200 }, (_, at) => `thing-${at}`);
const { client, db, producer, start } = useBatchConsumers({ partitions: PARTITIONS });

beforeAll(async () => {
  await db().schema.createTable('things', (table) => {
    table.increments('n');
    table.text('thing');
    table.integer('version');
  });
});
afterEach(() => db()('things').delete());

interface World {
  refuses: Set<string>;
  /** Things of each call. */
  calls: string[][];
}

/** Stores things in the transaction that it is given, so that rows show what was committed, and how often. */
const startIn = (world: World, options: Partial<BatchConsumerOptions> = {}) =>
  start(async (events, { transaction }) => {
    const things = events.flatMap((event) => (isEvent(thingChanged, event) ? [event.data] : []));
    world.calls.push(things.map(({ thing }) => thing));
    await transaction(async (tx) => {
      await tx('things').insert(things);
      if (things.some(({ thing }) => world.refuses.has(thing))) throw new Error('refused');
    });
  }, options);

const newWorld = (): World => ({ refuses: new Set(), calls: [] });
const publish = (version: number, things = THINGS) =>
  producer().publishBatch(things.map((thing) => ({ ...changed(thing, version), id: `${thing}/${version}` })));
const stored = () => db()('things').orderBy('n').select<{ thing: string; version: number }[]>('thing', 'version');
const allStored = (count: number) => until(async () => (await stored()).length >= count);
const versionsOf = async (wanted: string) =>
  (await stored()).filter(({ thing }) => thing === wanted).map(({ version }) => version);
const positions = () =>
  db()('consumer_positions')
    .where({ consumer: client().nameOf('storers') })
    .orderBy('partition')
    .select<{ partition: number; next_offset: number }[]>('partition', 'next_offset');

/**
 * Every partition has a position: the first records of one go alone. What is published until the producer knows a new
 * topic may be there twice, so rows are counted from here on.
 */
async function warmUp(): Promise<void> {
  await publish(1);
  await until(async () => new Set((await stored()).map(({ thing }) => thing)).size === THINGS.length);
  const ends = async () => {
    const admin = client().kafka.admin();
    await admin.connect();
    return admin.fetchTopicOffsets(client().nameOf(topic)).finally(() => admin.disconnect());
  };
  const written = (await ends()).reduce((sum, { high }) => sum + Number(high), 0);
  await until(async () => (await stored()).length >= written);
  await db()('things').delete();
}

test('what many partitions have at the same time is stored in few transactions, in order, each once', async () => {
  const world = newWorld();
  startIn(world);
  await warmUp();
  let version = 1;
  // No partition has half of the things; how many a broker gives at once is its own affair.
  const isShared = () => world.calls.some((things) => new Set(things).size > THINGS.length / 2);
  world.calls.length = 0;
  await until(async () => {
    await publish((version += 1));
    await allStored((version - 1) * THINGS.length);
    return isShared();
  });
  const versions = Array.from({ length: version - 1 }, (_, at) => at + 2);
  for (const thing of THINGS) expect(await versionsOf(thing)).toEqual(versions);
});

test('an event that is refused goes alone, and those that came with it are stored once', async () => {
  const world = newWorld();
  const consumer = startIn(world);
  await warmUp();
  world.refuses.add('thing-7');
  await publish(2);
  expect(await untilSettled(consumer, 'thing-7/2')).toBe('dead-lettered');
  await allStored(THINGS.length - 1);
  await publish(3, ['thing-8']);
  await allStored(THINGS.length);
  for (const thing of THINGS.slice(9)) expect(await versionsOf(thing)).toEqual([2]);
  expect(await versionsOf('thing-7')).toEqual([]);
  expect((await listDlq(client(), topic)).map(({ key }) => key)).toEqual(['thing-7']);
});

test('a partition whose position the database lost is read again, and no other', async () => {
  const world = newWorld();
  startIn(world);
  await warmUp();
  const [lost] = await positions();
  if (!lost) throw new Error('no partition has a position');
  await db()('consumer_positions')
    .where({ consumer: client().nameOf('storers'), partition: lost.partition })
    .update({ next_offset: lost.next_offset - 1 });
  await publish(2);
  await allStored(THINGS.length + 1);
  for (const thing of THINGS) expect(await versionsOf(thing)).toContain(2);
  expect((await stored()).filter(({ version }) => version === 1)).toHaveLength(1);
});

test('events that go one by one are bounded as whole transactions are', async () => {
  const world = newWorld();
  let [running, most, isSlow] = [0, 0, false];
  startIn(world, {
    concurrency: 2,
    handle: async (events, { transaction }) => {
      if (isSlow && events.length > 1) throw Object.assign(new Error('the statement was ended'), { code: '57014' });
      const things = events.flatMap((event) => (isEvent(thingChanged, event) ? [event.data] : []));
      running += 1;
      if (isSlow) most = Math.max(most, running);
      await transaction((tx) => tx('things').insert(things)).finally(() => (running -= 1));
    },
  });
  await warmUp();
  isSlow = true;
  await publish(2);
  await allStored(THINGS.length);
  expect(most).toBe(2);
});
