import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineEvent } from '@vision/contracts/envelope';
import { fail } from '@vision/contracts/errors';
import type { BatchConsumerOptions } from '../src/batch-consumer.ts';
import { listDlq } from '../src/dlq.ts';
import { isEvent } from '../src/subscription.ts';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { useBatchConsumers } from './support/batch-consumers.ts';
import { changed, thingChanged, topic } from './support/events.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

const metrics = testMetrics();
const { client, producer, start } = useBatchConsumers();

/** A store of versions that can be away or refuse single ones; a batch is stored whole or not at all. */
function store() {
  const versions: number[] = [];
  const state = { away: false, refuses: new Set<number>(), calls: 0 };
  const handle: BatchConsumerOptions['handle'] = async (events) => {
    state.calls += 1;
    if (state.away) throw fail.sysUnavailable('database_unavailable');
    const batch = events.flatMap((event) => (isEvent(thingChanged, event) ? [event.data.version] : []));
    if (batch.some((version) => state.refuses.has(version))) throw new Error('refused');
    versions.push(...batch);
  };
  return { versions, state, handle };
}

const statementTimeout = (code = '57014') => Object.assign(new Error('the statement was ended'), { code });

const publish = (versions: number[]) =>
  producer().publishBatch(versions.map((version) => ({ ...changed('a', version), id: `id-${version}` })));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('events arrive in chunks, in order, each once', async () => {
  const { versions, state, handle } = store();
  await publish(upTo(100));
  const consumer = start(handle, { chunkSize: 30 });
  await untilSettled(consumer, 'id-100');
  expect(versions).toEqual(upTo(100));
  expect(state.calls).toBe(4);
});

test('binary events are read from their bytes, and count in chunks for as much as they say', async () => {
  const sizes: number[][] = [];
  const weighed = defineEvent({
    type: 'test.weight.v1',
    topic,
    schema: z.instanceof(Uint8Array).transform((bytes) => bytes[0] ?? 0),
    binary: { source: 'test', load: (bytes) => bytes[0] ?? 1, description: 'What it weighs' },
  });
  const weights = [4, 4, 1, 200, 3, 7, 1];
  await producer().publishBatch(
    weights.map((weight, at) => ({ ...weighed, key: 'a', source: 'test', id: `w-${at}`, data: Buffer.from([weight]) })),
  );
  const consumer = start(
    async (events) => void sizes.push(events.flatMap((event) => (isEvent(weighed, event) ? [event.data] : []))),
    { chunkSize: 10, definitions: [weighed] },
  );
  expect(await untilSettled(consumer, 'w-6')).toBe('handled');
  expect(sizes).toEqual([[4, 4, 1], [200], [3, 7], [1]]);
});

test('a refused event alone becomes a dead letter and the others of its batch are stored in order', async () => {
  const { versions, state, handle } = store();
  state.refuses.add(3);
  await publish(upTo(6));
  await producer().publishRaw([{ topic, key: 'a', value: 'no event' }]);
  await publish([7]);
  const consumer = start(handle);
  await untilSettled(consumer, 'id-7');
  expect(await untilSettled(consumer, 'id-3')).toBe('dead-lettered');
  expect(versions).toEqual([1, 2, 4, 5, 6, 7]);
  const letters = await listDlq(client(), topic);
  expect(letters.map(({ reason }) => reason).sort()).toEqual(['handler_failed', 'not_an_event']);
});

test('while the store is unavailable nothing is lost, dead-lettered or committed, and a later process starts where it ended', async () => {
  const { versions, state, handle } = store();
  await publish(upTo(20));
  const first = start(handle, { chunkSize: 10 });
  await untilSettled(first, 'id-20');
  state.away = true;
  await publish([21, 22]);
  const calls = state.calls;
  await until(() => state.calls >= calls + 3);
  await first.stop();
  state.away = false;
  const second = start(handle);
  await untilSettled(second, 'id-22');
  expect(versions).toEqual(upTo(22));
  expect(await listDlq(client(), topic)).toEqual([]);
});

test('a batch that the database takes too long for is stored in parts, and none of it becomes a dead letter', async () => {
  const { versions, handle } = store();
  await publish(upTo(10));
  const consumer = start(async (events, meta) => {
    if (events.length > 2) throw statementTimeout();
    await handle(events, meta);
  });
  await untilSettled(consumer, 'id-10');
  expect(versions).toEqual(upTo(10));
  expect(await listDlq(client(), topic)).toEqual([]);
});

test.each([
  ['a statement timeout', '57014'],
  ['a missing grant', '42501'],
])('an event that %s keeps from its place holds up its partition, with an alarm', async (_what, code) => {
  const { versions, handle } = store();
  await publish(upTo(4));
  let isFaulty = true;
  const consumer = start(async (events, meta) => {
    if (isFaulty) throw statementTimeout(code);
    await handle(events, meta);
  });
  const blocked = () => metrics.sumOf('vision.consumer.blocked', { group: 'storers' });
  const before = Number(await blocked());
  // More often than an event is tried that is at fault itself.
  await until(async () => Number(await blocked()) >= before + 3);
  expect(versions).toEqual([]);
  isFaulty = false;
  await untilSettled(consumer, 'id-4');
  expect(versions).toEqual(upTo(4));
  expect(await listDlq(client(), topic)).toEqual([]);
});
