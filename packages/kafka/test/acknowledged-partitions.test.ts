import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Admin } from 'kafkajs';
import { createProducer } from '../src/producer.ts';
import type { EventProducer } from '../src/producer.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { until } from '@vision/shared/testing/until';

const topic = 'frames';
const BEFORE = 96;
const AFTER = 120;

let kafka: TestKafka;
let producer: EventProducer;
let admin: Admin;

beforeAll(async () => {
  kafka = await testKafka({ topics: [topic], partitions: BEFORE });
  producer = createProducer(kafka.client);
  admin = kafka.client.kafka.admin();
  await admin.connect();
});

afterAll(async () => {
  await producer.stop();
  await admin.disconnect();
  await kafka.close();
});

const frame = (key: string, partition: number) => ({
  topic,
  key,
  partition,
  type: 'vision.frame.v1',
  source: 'test',
  data: { key },
});

/** Records that the broker holds in each partition. */
async function recordsByPartition(): Promise<number[]> {
  const counts: number[] = [];
  for (const { partition, high } of await admin.fetchTopicOffsets(kafka.client.nameOf(topic))) {
    counts[partition] = Number(high);
  }
  return counts;
}

async function addPartitions(): Promise<void> {
  await admin.createPartitions({ topicPartitions: [{ topic: kafka.client.nameOf(topic), count: AFTER }] });
}

test('keeps every acknowledged event of jobs that begin while partitions are added', async () => {
  const acknowledged = new Array<number>(AFTER).fill(0);
  const runJob = async () => {
    const key = randomUUID();
    const partition = await producer.partitionOf(topic, key);
    for (let seq = 0; seq < 5; seq += 1) {
      await producer.publishBatch([frame(key, partition)]);
      acknowledged[partition] = (acknowledged[partition] ?? 0) + 1;
    }
  };
  // The producer knows the partitions of now.
  await runJob();
  await addPartitions();
  await until(async () => (await recordsByPartition()).length === AFTER);
  // So many keys that a fifth of them chooses a partition which the producer does not know.
  await Promise.all(Array.from({ length: 40 }, runJob));
  expect(acknowledged.slice(BEFORE).some((count) => count > 0)).toBe(true);
  expect(await recordsByPartition()).toEqual(acknowledged);
});

test('refuses events for a partition that the topic does not have', async () => {
  await expect(producer.publishBatch([frame('a', 1_000)])).rejects.toMatchObject({
    kind: 'unavailable',
    reason: 'kafka_unavailable',
  });
  const [before = 0] = await recordsByPartition();
  await producer.publishBatch([frame('a', 0)]);
  expect((await recordsByPartition())[0]).toBe(before + 1);
});

test('an answer that leaves a partition out acknowledges nothing', async () => {
  const { kafka: real } = kafka.client;
  // kafkajs forgets a partition whose leader moves between two tries; the broker's own answer is cut to that.
  const forgetful = Object.create(real, {
    producer: {
      value: (...config: Parameters<typeof real.producer>) => {
        const made = real.producer(...config);
        const sendBatch: typeof made.sendBatch = async (batch) => {
          const answer = await made.sendBatch(batch);
          return answer.filter(({ partition }) => partition !== 1);
        };
        return { ...made, sendBatch };
      },
    },
  }) as typeof real;
  const other = createProducer({ ...kafka.client, kafka: forgetful });
  try {
    await other.publishBatch([frame('a', 0)]);
    await expect(other.publishBatch([frame('a', 0), frame('b', 1)])).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'kafka_unavailable',
    });
  } finally {
    await other.stop();
  }
});
