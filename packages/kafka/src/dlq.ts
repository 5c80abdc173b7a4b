import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import { dlqTopic } from '@vision/contracts/topics';
import { headerText } from './cloud-event.ts';
import { OMITTED_BYTES, VALUE_DIGEST } from './dead-letter.ts';
import { boundsOf, committedOffsets, IDLE_MS, rangesOf, readRanges, withAdmin } from './dlq-records.ts';
import type { Bounds, Range } from './dlq-records.ts';
import type { KafkaClient } from './kafka.ts';
import { createProducer } from './producer.ts';
import type { EventProducer } from './producer.ts';
import { isTooLarge } from './too-large.ts';

/** A dead letter, for people. */
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
  /** The start of the value, at most 2,000 characters; in base64 when it is no text. */
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

/** A dead letter with all that it carries. */
export interface WholeDeadLetter extends DeadLetter {
  /** Its original position. */
  from: { partition: string | undefined; offset: string | undefined };
  /** Headers of its publisher. */
  headers: Record<string, string>;
  payload: Buffer;
  /** Size of a payload that was too large to be kept. */
  omittedBytes: number | undefined;
  /** SHA-256 of that payload. */
  digest: string | undefined;
}

/** Number of newest records in each partition that are searched for the id of an event. */
const LOOKED_AT = 10_000;

/**
 * One dead letter of a topic: `newest`, an offset, `partition-offset`, or the id of an event. Undefined when there is
 * none. Reads only.
 */
export async function findDeadLetter(
  client: KafkaClient,
  topic: string,
  wanted: string,
): Promise<WholeDeadLetter | undefined> {
  const groupId = client.nameOf(`dlq-look-${randomUUID()}`);
  const dlq = client.nameOf(dlqTopic(topic));
  const [, partition, offset] = /^(?:(\d{1,9})-)?(\d{1,15})$/.exec(wanted) ?? [];
  return withAdmin(client, async (admin) => {
    const bounds = await boundsOf(admin, dlq);
    const ranges = bounds
      .filter((one) => partition === undefined || one.partition === Number(partition))
      .map((one) => rangeFor(one, wanted, offset));
    let found: WholeDeadLetter | undefined;
    await readRanges(client, { groupId, topic: dlq, ranges, commit: false, idleMs: IDLE_MS }, async (at, message) => {
      const letter = toWhole(at, message);
      const isIt = offset !== undefined || wanted === 'newest' || letter.eventId === wanted;
      // Picks the newest across partitions, and the last of several records with one id.
      if (isIt && (letter.at ?? '') >= (found?.at ?? '')) found = letter;
      return undefined;
    });
    await admin.deleteGroups([groupId]).catch(() => undefined);
    return found;
  });
}

function rangeFor({ partition, low, high }: Bounds, wanted: string, offset: string | undefined): Range {
  if (offset !== undefined) {
    const isThere = Number(offset) >= low && Number(offset) < high;
    return { partition, from: Number(offset), to: isThere ? Number(offset) + 1 : Number(offset) };
  }
  return { partition, from: Math.max(low, high - (wanted === 'newest' ? 1 : LOOKED_AT)), to: high };
}

/**
 * Publishes dead letters that were not replayed yet to their topic again, in order; returns their number. Every
 * consumer group of the topic receives them, which is harmless because handlers are idempotent. A consumer group stores
 * the progress, so a second call continues after the first; a crash in between repeats some. A record whose value was
 * omitted, or that its topic no longer accepts, is skipped with a log line.
 */
export async function replayDlq(
  client: KafkaClient,
  topic: string,
  { limit = Infinity, idleMs }: ReplayOptions,
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
        if (await publishAgain(client, producer, topic, message)) replayed += 1;
        return undefined;
      });
      return replayed;
    });
  } finally {
    await producer.stop();
  }
}

/** False for a record that cannot be published again. */
async function publishAgain(
  { logger }: KafkaClient,
  producer: EventProducer,
  topic: string,
  message: KafkaMessage,
): Promise<boolean> {
  const { key, value, headers, offset } = message;
  try {
    if (headerText(headers, OMITTED_BYTES) === undefined) {
      await producer.publishRaw([{ topic, key, value, headers: originalHeaders(message) }]);
      return true;
    }
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  logger.error({ topic, offset }, 'a dead letter was too large to be replayed');
  return false;
}

export interface ReplayOptions {
  limit?: number;
  /** Longest time without a record; the whole replay has no limit. */
  idleMs: number;
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
    value: shownText(message.value ?? Buffer.alloc(0)).slice(0, 2_000),
  };
}

/** A payload for people: text as it is, anything else in base64. */
export const shownText = (payload: Buffer): string =>
  isUtf8(payload) ? payload.toString('utf8') : `base64:${payload.toString('base64')}`;

function toWhole(partition: number, message: KafkaMessage): WholeDeadLetter {
  const names = Object.keys(message.headers ?? {}).filter((name) => !name.startsWith('dlq_'));
  const text = (name: string) => headerText(message.headers, name);
  return {
    ...toDeadLetter(partition, message),
    from: { partition: text('dlq_partition'), offset: text('dlq_offset') },
    headers: Object.fromEntries(names.map((name) => [name, text(name) ?? ''])),
    payload: message.value ?? Buffer.alloc(0),
    omittedBytes: text(OMITTED_BYTES) === undefined ? undefined : Number(text(OMITTED_BYTES)),
    digest: text(VALUE_DIGEST),
  };
}

function originalHeaders(message: KafkaMessage) {
  const own = Object.entries(message.headers ?? {}).filter(([name]) => !name.startsWith('dlq_'));
  return { ...Object.fromEntries(own), replayed_at: new Date().toISOString() };
}
