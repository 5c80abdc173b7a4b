import { setImmediate as breathe } from 'node:timers/promises';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { Knex } from 'knex';
import type { EventDefinition } from '@vision/contracts/envelope';
import { handlerFailed, putAside } from './dead-letter.ts';
import type { DeadLetterReason } from './dead-letter.ts';
import { createEventConsumer } from './event-consumer.ts';
import type { ConsumerTools, EventConsumer } from './event-consumer.ts';
import type { KafkaClient } from './kafka.ts';
import { epochsOf } from './leader-epoch.ts';
import type { Epochs } from './leader-epoch.ts';
import { createGatherer, createRoom } from './gathered-chunks.ts';
import type { Applied, Gatherer, Part, Room } from './gathered-chunks.ts';
import { decodeRecord, endOfChunk } from './records.ts';
import type { ByType, Decoded } from './records.ts';
import type { EffectTransaction, Passing } from './progress.ts';
import type { Outcome } from './outcome.ts';
import type { ReceivedEvent } from './subscription.ts';
import { HELD_UP, isLineDue, withHeartbeats } from './persist.ts';
import { inBatchSpan } from './consumer-spans.ts';

export interface BatchConsumerOptions {
  /** The database that the effects go to; it has the table of `positionsMigration`. */
  db: Knex;
  kafka: KafkaClient;
  groupId: string;
  topic: string;
  /** Types the handler knows; others are passed over. Tell them apart with `isEvent(definition, event)`. */
  definitions: EventDefinition[];
  /** What this member tells publishers that it reads, beyond what every release reads (`group-features.ts`). */
  features?: readonly string[];
  /**
   * Stores events of one or several partitions, those of each in order, in `meta.transaction`, which also moves the
   * positions of the consumer. Repeats happen, also of parts of a batch in other groupings. When it fails for no
   * outage, the events are given to it partition by partition, and then one by one, so that only those at fault become
   * dead letters. None is for a fault of the database.
   */
  handle: (events: ReceivedEvent<unknown>[], meta: BatchMeta) => Promise<void>;
  onFatal: (error: Error) => void;
  /** How often the positions of partitions at rest are compared with the database. */
  compareMs?: number;
  /** Events per call at most; a binary event counts for as many as its contract says. */
  chunkSize?: number;
  /** Transactions at once; so many times `chunkSize` events are held at most. */
  concurrency?: number;
}

export interface BatchMeta {
  topic: string;
  /** The one transaction of these events. */
  transaction: EffectTransaction;
  /** Some were handled before, and the database has lost the effects: their ages say nothing about now. */
  isReread: boolean;
  signal: AbortSignal;
}

/** Tries of a single event that fails for no outage. */
const MAX_ATTEMPTS = 3;
/** Partitions whose records are taken up at once: all that a member usually has. */
const PARTITIONS_AT_ONCE = 128;

/**
 * Consumes many small events in batches (frames). Otherwise as `createConsumer`; the spans of a batch link
 * to its producers.
 */
export function createBatchConsumer(options: BatchConsumerOptions): EventConsumer {
  const { db, kafka, groupId, topic, definitions, features, onFatal, compareMs } = options;
  const { concurrency = 2, chunkSize = 500 } = options;
  const byType = new Map(definitions.map((definition) => [definition.type, definition]));
  return createEventConsumer({ db, kafka, groupId, topics: [topic], features, onFatal, compareMs }, (tools) => {
    const gatherer = createGatherer({
      most: chunkSize,
      concurrency,
      signal: tools.signal,
      passTogether: (parts) => handleTogether(options, tools, parts),
    });
    const room = createRoom(concurrency * chunkSize);
    const batches = { ...options, ...tools, chunkSize, byType, gatherer, room };
    return {
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => {
        const { topic: name, partition, messages } = payload.batch;
        await inBatchSpan({ topic: name, partition, groupId }, messages, () => consume(batches, payload));
        tools.progressed();
      },
    };
  });
}

async function handleTogether(
  { handle, topic }: BatchConsumerOptions,
  { passTogether, signal }: ConsumerTools,
  parts: readonly Part[],
): Promise<boolean> {
  const [{ heartbeat }] = parts as [Part];
  const events = parts.flatMap((part) => part.events);
  const work = (transaction: EffectTransaction) => handle(events, { topic, transaction, isReread: false, signal });
  const records = parts.map((part) => part.records);
  return withHeartbeats({ heartbeat }, () => passTogether(records, work));
}

interface Batches extends BatchConsumerOptions, ConsumerTools {
  chunkSize: number;
  byType: ByType;
  gatherer: Gatherer;
  room: Room;
}

/** Records that are handled together; `next` is the offset behind them. */
interface Chunk {
  records: Decoded[];
  /** What it counts for; see `chunkSize`. */
  load: number;
  next: bigint;
  epochs: Epochs | undefined;
}

type Attempt = Omit<Chunk, 'load'>;

async function consume(batches: Batches, payload: EachBatchPayload): Promise<void> {
  const { messages } = payload.batch;
  for (let from = 0, to = 0; from < messages.length; from = to) {
    if (!payload.isRunning() || payload.isStale() || batches.signal.aborted) return;
    const { end, load } = endOfChunk(batches, messages, from);
    to = end;
    const chunk = messages.slice(from, to);
    const [first, final] = [chunk[0], chunk.at(-1)] as [KafkaMessage, KafkaMessage];
    const last = final.offset;
    // Behind the last record of ours there may be the mark of a transaction.
    const next = BigInt(to < messages.length ? last : payload.batch.lastOffset()) + 1n;
    const isApplied = await batches.room.run(load, () => {
      const records = chunk.map((message) => decodeRecord(batches.byType, message));
      return applyChunk(batches, payload, { records, load, next, epochs: epochsOf(first, final) });
    });
    if (!isApplied) return;
    payload.resolveOffset(last);
    await payload.heartbeat();
    // Decoding a full fetch in one go would hold up everything else in the process.
    await breathe();
  }
}

/** Dead letters are stored before the position moves over them. False when the rest of the batch is dropped. */
async function applyChunk(
  batches: Batches,
  payload: EachBatchPayload,
  { records, load, next, epochs }: Chunk,
): Promise<boolean> {
  for (const { message, problem } of records) if (problem) await aside(batches, payload, message, problem);
  const events = records.filter(({ event }) => event);
  const whole = { records: events, load, next, epochs };
  const passing = await batches.gatherer.pass(partOf(payload, whole), () => applyAlone(batches, payload, whole));
  if (passing === 'sought') return false;
  for (const decoded of records) {
    if (decoded.problem) settle(batches, decoded, 'dead-lettered');
    else if (!decoded.event) settle(batches, decoded, 'skipped');
    else if (passing === 'passed') settle(batches, decoded, 'handled');
  }
  return true;
}

const partOf = (payload: EachBatchPayload, { records, load, next, epochs }: Attempt & { load: number }): Part => ({
  records: { topic: payload.batch.topic, partition: payload.batch.partition, next, epochs },
  events: records.flatMap(({ event }) => event ?? []),
  load,
  isBehind: next < BigInt(payload.batch.highWatermark),
  heartbeat: () => payload.heartbeat(),
});

async function applyAlone(batches: Batches, payload: EachBatchPayload, chunk: Attempt): Promise<Applied> {
  const passing = await attempt(batches, payload, chunk);
  if (typeof passing !== 'object') return passing;
  return (await applySingly(batches, payload, chunk)) ? 'singly' : 'sought';
}

async function applySingly(batches: Batches, payload: EachBatchPayload, chunk: Attempt): Promise<boolean> {
  for (const [index, decoded] of chunk.records.entries()) {
    const isLast = index === chunk.records.length - 1;
    const next = isLast ? chunk.next : BigInt(decoded.message.offset) + 1n;
    const epochs = epochsOf(decoded.message);
    let passing = await attempt(batches, payload, { records: [decoded], next, epochs });
    if (typeof passing === 'object') {
      await aside(batches, payload, decoded.message, handlerFailed(passing.failure));
      passing = await attempt(batches, payload, { records: [], next, epochs });
      if (passing === 'passed') settle(batches, decoded, 'dead-lettered');
    } else if (passing === 'passed') settle(batches, decoded, 'handled');
    if (passing === 'sought') return false;
  }
  return true;
}

async function attempt(
  batches: Batches,
  payload: EachBatchPayload,
  { records, next, epochs }: Attempt,
): Promise<Passing> {
  const events = records.flatMap(({ event }) => event ?? []);
  const { topic, partition } = payload.batch;
  const meta = { topic: batches.topic, signal: batches.signal };
  const facts = { group: batches.groupId, topic: batches.topic, partition, events: events.length };
  return batches.pass(
    { topic, partition, next, epochs },
    async (transaction, _attempt, isReread) => {
      if (events.length > 0) await batches.handle(events, { ...meta, transaction, isReread });
    },
    {
      // Going on without effects is no event's fault, so it is tried for as long as it takes.
      maxAttempts: events.length === 0 ? Infinity : events.length > 1 ? 1 : MAX_ATTEMPTS,
      canSplit: events.length > 1,
      heartbeat: () => payload.heartbeat(),
      signal: batches.signal,
      onRetry: (error, retry) => {
        const { outages, storeFaults } = retry;
        const { logger } = batches.kafka;
        batches.signals.retried(outages > 0);
        if (storeFaults === 0)
          logger[outages > 1 ? 'debug' : 'warn']({ ...facts, outages, err: error }, 'a batch is tried again');
        else batches.signals.blocked();
        if (isLineDue(retry)) logger.error({ ...facts, err: error }, HELD_UP);
      },
    },
  );
}

async function aside(
  batches: Batches,
  payload: EachBatchPayload,
  message: KafkaMessage,
  why: DeadLetterReason,
): Promise<void> {
  const failed = { topic: batches.topic, partition: payload.batch.partition, groupId: batches.groupId, message };
  await putAside({ ...batches, heartbeat: () => payload.heartbeat() }, failed, why);
}

function settle({ signals, settled, byType }: Batches, { type, id, event }: Decoded, outcome: Outcome): void {
  // Records may be written by others, who could make up any number of types.
  signals.settled(type === 'none' || byType.has(type) ? type : 'other', outcome, event?.time);
  if (id) settled(id, outcome);
}
