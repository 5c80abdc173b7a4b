import { randomUUID } from 'node:crypto';
import type { KafkaClient } from '../../src/kafka.ts';
import { until } from '@vision/shared/testing/until';

export interface ReadRecord {
  key: string | undefined;
  data: unknown;
  headers: Record<string, string>;
}

/** Reads a topic from its start until it holds that many records. */
export async function readTopic({ kafka, nameOf }: KafkaClient, topic: string, count: number): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  const consumer = kafka.consumer({ groupId: nameOf(`read-${randomUUID()}`), maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic: nameOf(topic), fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)] as const);
      records.push({ key: message.key?.toString(), data: parse(message.value), headers: Object.fromEntries(headers) });
    },
  });
  try {
    await until(() => records.length >= count);
  } finally {
    await consumer.disconnect();
  }
  return records;
}

function parse(value: Buffer | null): unknown {
  const text = value?.toString() ?? '';
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
