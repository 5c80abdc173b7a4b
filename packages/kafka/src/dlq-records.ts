import type { Admin, KafkaMessage } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';

/** A part of a partition. */
export interface Range {
  partition: number;
  from: number;
  /** First offset that is not read. */
  to: number;
}

interface ReadOptions {
  groupId: string;
  /** With prefix. */
  topic: string;
  ranges: Range[];
  commit: boolean;
  idleMs: number;
}

/** Longest time without a record; the whole read has no limit. */
export const IDLE_MS = 30_000;

/** Reads every record of some ranges, in a consumer group of its own; `enough` ends the range of that record. */
export async function readRanges(
  client: KafkaClient,
  { groupId, topic, ranges, commit, idleMs }: ReadOptions,
  each: (partition: number, message: KafkaMessage) => Promise<'enough' | undefined>,
): Promise<void> {
  const left = new Map(ranges.filter(({ from, to }) => from < to).map((range) => [range.partition, range]));
  if (left.size === 0) return;
  const consumer = client.kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 500 });
  const { promise: finished, resolve: finish, reject: giveUp } = Promise.withResolvers<void>();
  finished.catch(() => undefined);
  const idle = setTimeout(() => giveUp(new Error(`${topic} could not be read: no record for ${idleMs} ms`)), idleMs);
  consumer.on('consumer.crash', ({ payload }) => giveUp(payload.error));
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        const range = left.get(partition);
        if (!range || Number(message.offset) < range.from || Number(message.offset) >= range.to) return;
        const isEnough = (await each(partition, message)) === 'enough';
        const next = Number(message.offset) + 1;
        if (commit && !isEnough) await consumer.commitOffsets([{ topic, partition, offset: String(next) }]);
        if (isEnough || next >= range.to) left.delete(partition);
        if (left.size === 0) finish();
        idle.refresh();
      },
    });
    for (const { partition, from } of left.values()) consumer.seek({ topic, partition, offset: String(from) });
    await finished;
  } finally {
    clearTimeout(idle);
    await consumer.disconnect();
  }
}

/** Runs admin requests on a connection of their own. */
export async function withAdmin<T>({ kafka }: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Offsets that a partition holds. */
export interface Bounds {
  partition: number;
  low: number;
  /** The offset that the next record gets. */
  high: number;
}

/** Offsets that each partition of a topic holds; the name with prefix. */
export async function boundsOf(admin: Admin, topic: string): Promise<Bounds[]> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets.map(({ partition, low, high }) => ({ partition, low: Number(low), high: Number(high) }));
}

/** The ranges of all partitions, each from `start` to its end. */
export async function rangesOf(admin: Admin, topic: string, start: (bounds: Bounds) => number): Promise<Range[]> {
  const all = await boundsOf(admin, topic);
  return all.map((bounds) => ({ partition: bounds.partition, from: start(bounds), to: bounds.high }));
}

/** How far a group has come, by partition. */
export async function committedOffsets(admin: Admin, groupId: string, topic: string): Promise<Map<number, number>> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const known = (found?.partitions ?? []).filter(({ offset }) => Number(offset) >= 0);
  return new Map(known.map(({ partition, offset }) => [partition, Number(offset)]));
}
