import { expect, test } from '@jest/globals';
import { groupFeatures } from '@vision/contracts/topics';
import { announcing } from '@vision/kafka/group-features';
import type { KafkaClient } from '@vision/kafka/kafka';
import { createLogger } from '@vision/shared/logger';
import { until } from '@vision/shared/testing/until';
import type { Deps } from './deps.ts';
import { createSegmentReaders } from './segment-readers.ts';

/** A group of one member that reads segments, of a broker that may be unavailable. */
function createBroker({ isSilent = false } = {}) {
  const broker = { isAway: false, asked: 0, connections: 0 };
  const assigner = announcing([groupFeatures.frameSegments])({} as Parameters<ReturnType<typeof announcing>>[0]);
  const { metadata } = assigner.protocol({ topics: ['frames'] });
  const describeGroups = () => {
    broker.asked += 1;
    if (isSilent) return new Promise<never>(() => undefined);
    if (broker.isAway) return Promise.reject(new Error('no broker answers'));
    return Promise.resolve({ groups: [{ state: 'Stable', members: [{ memberMetadata: metadata }] }] });
  };
  const admin = () => {
    broker.connections += 1;
    return { connect: () => Promise.resolve(), disconnect: () => Promise.resolve(), describeGroups };
  };
  const client = { kafka: { admin }, nameOf: (name: string) => name } as unknown as KafkaClient;
  return { broker, client };
}

test('a question that gets no answer does not hold up a stop', async () => {
  const { client } = createBroker({ isSilent: true });
  const signals = { segmentReadersChanged: () => undefined } as unknown as Deps['signals'];
  const readers = createSegmentReaders(client, { logger: createLogger('test', 'silent'), signals });
  readers.poller.start();
  await readers.poller.stop();
  expect(readers.areReady()).toBe(false);
});

test('a worker asks again and again on one connection, and on a new one after a failure', async () => {
  const { broker, client } = createBroker();
  const signals = { segmentReadersChanged: () => undefined } as unknown as Deps['signals'];
  const readers = createSegmentReaders(client, { logger: createLogger('test', 'silent'), signals });
  readers.poller.start();
  const isAsked = (times: number) =>
    until(() => {
      readers.poller.wake();
      return broker.asked >= times;
    });
  await isAsked(3);
  expect(broker.connections).toBe(1);
  broker.isAway = true;
  await isAsked(broker.asked + 1);
  broker.isAway = false;
  await isAsked(broker.asked + 2);
  await readers.poller.stop();
  expect(broker.connections).toBeGreaterThan(1);
});

test('says once that an answer has expired while the group cannot be asked, and when it is there again', async () => {
  const { broker, client } = createBroker();
  const changes: boolean[] = [];
  const signals = { segmentReadersChanged: (areReady: boolean) => void changes.push(areReady) } as Deps['signals'];
  let nowMs = 0;
  const readers = createSegmentReaders(client, { logger: createLogger('test', 'silent'), signals }, () => nowMs);
  readers.poller.start();
  await until(() => readers.areReady());

  broker.isAway = true;
  nowMs += 60_000;
  readers.poller.wake();
  await until(() => changes.length === 2);
  const asked = broker.asked;
  await until(() => broker.asked >= asked + 2);
  expect(changes).toEqual([true, false]);

  broker.isAway = false;
  await until(() => readers.areReady());
  await readers.poller.stop();
  expect(changes).toEqual([true, false, true]);
});
