import { randomUUID } from 'node:crypto';
import type { Admin, KafkaMessage } from 'kafkajs';
import { dlqTopic } from '../contracts/topics.ts';
import { headerText } from './cloud-event.ts';
import type { KafkaClient } from './kafka.ts';
import { createProducer } from './producer.ts';

/** A record that was put aside, for people to look at. */
export interface DeadLetter {
  partition: number;
  offset: string;
  key: string | undefined;
  reason: string | undefined;
  detail: string | undefined;
  group: string | undefined;
  at: string | undefined;
  eventId: string | undefined;
  type: string | undefined;
  /** The start of the value, at most 2,000 characters. */
  value: string;
}

/**
 * The newest dead letters of a topic, at most `limit` per partition, oldest first. Reads only: nothing is
 * moved or committed.
 */
export async function listDlq(client: KafkaClient, topic: string, limit = 50): Promise<DeadLetter[]> {
  const groupId = client.nameOf(`dlq-look-${randomUUID()}`);
  return withAdmin(client, async (admin) => {
    const ranges = await rangesOf(admin, client.nameOf(dlqTopic(topic)), ({ low, high }) =>
      Math.max(low, high - limit),
    );
    const letters: DeadLetter[] = [];
    await readRanges(
      client,
      { groupId, topic: client.nameOf(dlqTopic(topic)), ranges, commit: false, idleMs: IDLE_MS },
      async (partition, message) => {
        letters.push(toDeadLetter(partition, message));
        return undefined;
      },
    );
    await admin.deleteGroups([groupId]).catch(() => undefined);
    return letters;
  });
}

/**
 * Publishes the dead letters that were not replayed yet to their topic again, in order; returns how many. Every
 * consumer group of the topic sees them, which is harmless because handlers are repeatable. Progress is kept in a
 * consumer group, so a second call goes on after the first; a crash in between repeats some.
 */
export async function replayDlq(
  client: KafkaClient,
  topic: string,
  { limit = Infinity, idleMs = IDLE_MS }: ReplayOptions = {},
): Promise<number> {
  const groupId = client.nameOf(`dlq-replay.${topic}`);
  const dlq = client.nameOf(dlqTopic(topic));
  const producer = createProducer(client);
  try {
    return await withAdmin(client, async (admin) => {
      const committed = await committedOffsets(admin, groupId, dlq);
      const ranges = await rangesOf(admin, dlq, ({ partition, low }) => Math.max(low, committed.get(partition) ?? low));
      let replayed = 0;
      await readRanges(client, { groupId, topic: dlq, ranges, commit: true, idleMs }, async (_partition, message) => {
        if (replayed >= limit) return 'enough';
        await producer.publishRaw([
          { topic, key: message.key, value: message.value, headers: originalHeaders(message) },
        ]);
        replayed += 1;
        return undefined;
      });
      return replayed;
    });
  } finally {
    await producer.stop();
  }
}

export interface ReplayOptions {
  limit?: number;
  /** Longest time without a record; a replay as a whole takes as long as it takes. */
  idleMs?: number;
}

interface Range {
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

const IDLE_MS = 30_000;

async function readRanges(
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

async function withAdmin<T>({ kafka }: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function rangesOf(
  admin: Admin,
  topic: string,
  start: (bounds: { partition: number; low: number; high: number }) => number,
): Promise<Range[]> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets.map(({ partition, low, high }) => ({
    partition,
    from: start({ partition, low: Number(low), high: Number(high) }),
    to: Number(high),
  }));
}

async function committedOffsets(admin: Admin, groupId: string, topic: string): Promise<Map<number, number>> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const known = (found?.partitions ?? []).filter(({ offset }) => Number(offset) >= 0);
  return new Map(known.map(({ partition, offset }) => [partition, Number(offset)]));
}

function toDeadLetter(partition: number, message: KafkaMessage): DeadLetter {
  const header = (name: string) => headerText(message.headers, name);
  return {
    partition,
    offset: message.offset,
    key: message.key?.toString(),
    reason: header('dlq_reason'),
    detail: header('dlq_detail'),
    group: header('dlq_group'),
    at: header('dlq_at'),
    eventId: header('ce_id'),
    type: header('ce_type'),
    value: (message.value ?? Buffer.alloc(0)).toString('utf8').slice(0, 2_000),
  };
}

function originalHeaders(message: KafkaMessage) {
  const own = Object.entries(message.headers ?? {}).filter(([name]) => !name.startsWith('dlq_'));
  return { ...Object.fromEntries(own), replayed_at: new Date().toISOString() };
}
