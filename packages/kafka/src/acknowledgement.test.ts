import { expect, test } from '@jest/globals';
import type { PartitionMetadata } from 'kafkajs';
import { createAcknowledgementCheck } from './acknowledgement.ts';

const metadata = (count: number): PartitionMetadata[] =>
  Array.from({ length: count }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 1,
    replicas: [1],
    isr: [1],
  }));

const answerOf = (...partitions: number[]) =>
  partitions.map((partition) => ({ topicName: 'frames', partition, errorCode: 0 }));

test('takes an answer that names the partition of every message', () => {
  const check = createAcknowledgementCheck();
  const choose = check.createPartitioner();
  const messages = [
    { key: 'a', value: '1', partition: 2 },
    { key: 'b', value: '2', partition: 0 },
  ];
  for (const message of messages) choose({ topic: 'frames', partitionMetadata: metadata(3), message });
  expect(() => check.verify([{ topic: 'frames', messages }], answerOf(0, 2))).not.toThrow();
});

test('refuses an answer that leaves a partition out, as after a leader moved between two tries', () => {
  const check = createAcknowledgementCheck();
  const message = { key: 'a', value: '1', partition: 2 };
  check.createPartitioner()({ topic: 'frames', partitionMetadata: metadata(3), message });
  expect(() => check.verify([{ topic: 'frames', messages: [message] }], answerOf(0))).toThrow(
    'the broker did not acknowledge partition 2 of topic frames',
  );
});

test('refuses an answer for a message that two tries sent to different partitions', () => {
  const check = createAcknowledgementCheck();
  const choose = check.createPartitioner();
  const message = { key: 'a', value: '1' };
  const chosen = [3, 4, 5, 7].map((count) => choose({ topic: 'frames', partitionMetadata: metadata(count), message }));
  expect(new Set(chosen).size).toBeGreaterThan(1);
  expect(() => check.verify([{ topic: 'frames', messages: [message] }], answerOf(0, 1, 2, 3, 4, 5, 6))).toThrow();
});

test('sends nothing to a partition that the metadata does not name', () => {
  const choose = createAcknowledgementCheck().createPartitioner();
  const message = { key: 'a', value: '1', partition: 96 };
  expect(() => choose({ topic: 'frames', partitionMetadata: metadata(96), message })).toThrow(
    'topic frames has no partition 96',
  );
});
