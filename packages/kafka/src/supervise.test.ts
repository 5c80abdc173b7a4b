import { expect, jest, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { until } from '@vision/shared/testing/until';
import { createLogger } from '@vision/shared/logger';
import { consumerSignals } from './consumer-signals.ts';
import type { KafkaClient } from './kafka.ts';
import { createPartitionCursors } from './partition-cursors.ts';
import { createSupervisor } from './supervise.ts';

interface Crash {
  error: Error;
  restart: boolean;
}

/** The events and the restart question of a kafkajs consumer, without brokers. */
function harness() {
  const events = new EventEmitter();
  let runs = 0;
  let restartOnFailure: (error: Error) => Promise<boolean> = () => Promise.resolve(true);
  const consumer = {
    on: (name: string, listener: (event: unknown) => void) => events.on(name, listener),
    connect: () => Promise.resolve(),
    subscribe: () => Promise.resolve(),
    run: () => {
      runs += 1;
      return Promise.resolve(void events.emit('consumer.group_join', { payload: { memberAssignment: {} } }));
    },
    disconnect: () => Promise.resolve(),
  };
  const kafka = {
    consumer: (options: { retry: { restartOnFailure: typeof restartOnFailure } }) => {
      restartOnFailure = options.retry.restartOnFailure;
      return consumer;
    },
  };
  const fatal: Error[] = [];
  const supervisor = createSupervisor({
    kafka: { kafka, nameOf: (name: string) => name, logger: createLogger('test', 'silent') } as unknown as KafkaClient,
    groupId: 'group',
    topics: ['topic'],
    run: {},
    signals: consumerSignals('group'),
    cursors: createPartitionCursors(),
    onFatal: (error) => void fatal.push(error),
  });
  const crash = (payload: Crash) => void events.emit('consumer.crash', { payload });
  const fetch = () => void events.emit('consumer.fetch_start');
  return { supervisor, fatal, crash, fetch, runs: () => runs, mayRestart: (error: Error) => restartOnFailure(error) };
}

const named = (name: string, cause?: Error) => Object.assign(new Error(name, { cause }), { name });

test('a crash that cannot be restarted is fatal, once', async () => {
  const { supervisor, fatal, crash } = harness();
  supervisor.start();
  await supervisor.joined;
  crash({ error: named('KafkaJSNonRetriableError'), restart: false });
  crash({ error: named('KafkaJSNonRetriableError'), restart: false });
  expect(fatal).toHaveLength(1);
  expect(supervisor.isAlive()).toBe(false);
  await supervisor.stop();
});

test('a broker that goes away while the consumer joins is waited for, although the library gives up', async () => {
  const { supervisor, fatal, crash, runs } = harness();
  supervisor.start();
  await supervisor.joined;
  crash({ error: new Error('Broker not connected'), restart: false });
  await until(() => runs() === 2);
  expect([fatal, supervisor.isAlive()]).toEqual([[], true]);
  await supervisor.stop();
});

test('crashes in a row end the patience, progress between them restores it', async () => {
  const { supervisor, mayRestart } = harness();
  supervisor.start();
  const error = named('KafkaJSNumberOfRetriesExceeded', named('KafkaJSProtocolError'));
  for (let crash = 1; crash < 5; crash += 1) expect(await mayRestart(error)).toBe(true);
  supervisor.progressed();
  for (let crash = 1; crash < 5; crash += 1) expect(await mayRestart(error)).toBe(true);
  expect(await mayRestart(error)).toBe(false);
  await supervisor.stop();
});

test('brokers out of reach are waited for without end', async () => {
  const { supervisor, fatal, mayRestart } = harness();
  supervisor.start();
  const error = named('KafkaJSNumberOfRetriesExceeded', named('KafkaJSConnectionError'));
  for (let n = 0; n < 20; n += 1) expect(await mayRestart(error)).toBe(true);
  expect(fatal).toEqual([]);
  expect(supervisor.isAlive()).toBe(true);
  await supervisor.stop();
});

test('a broker that loads the offsets of the group is waited for without end', async () => {
  const { supervisor, mayRestart } = harness();
  supervisor.start();
  const error = Object.assign(named('KafkaJSProtocolError'), { type: 'GROUP_LOAD_IN_PROGRESS', retriable: true });
  for (let n = 0; n < 20; n += 1) expect(await mayRestart(error)).toBe(true);
  await supervisor.stop();
});

test('a crash during the stop is not fatal', async () => {
  const { supervisor, fatal, crash } = harness();
  supervisor.start();
  await supervisor.joined;
  const stopped = supervisor.stop();
  crash({ error: named('KafkaJSError'), restart: false });
  await stopped;
  expect(fatal).toEqual([]);
});

test('a stop without a start ends at once', async () => {
  const { supervisor, runs } = harness();
  await supervisor.stop();
  expect(runs()).toBe(0);
});

test('a consumer is silent by the time that passed, not by a clock that is stepped', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    const { supervisor, fatal, fetch } = harness();
    supervisor.start();
    await supervisor.joined;
    jest.setSystemTime(Date.now() + 3_600_000);
    jest.advanceTimersByTime(60_000);
    expect(fatal).toEqual([]);
    fetch();
    jest.setSystemTime(Date.now() - 7_200_000);
    jest.advanceTimersByTime(270_000);
    expect(fatal).toEqual([]);
    jest.advanceTimersByTime(60_000);
    expect(fatal).toMatchObject([{ message: 'the consumer has been silent for five minutes' }]);
    await supervisor.stop();
  } finally {
    jest.useRealTimers();
  }
});
