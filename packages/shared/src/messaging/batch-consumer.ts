import { setImmediate as breathe } from 'node:timers/promises';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { z } from 'zod';
import type { EventDefinition } from '../contracts/envelope.ts';
import { readHeaders, readJson } from './cloud-event.ts';
import { handlerFailed, putAside } from './dead-letter.ts';
import type { DeadLetterReason } from './dead-letter.ts';
import { createEventConsumer } from './event-consumer.ts';
import type { ConsumerTools, EventConsumer } from './event-consumer.ts';
import type { KafkaClient } from './kafka.ts';
import { persist } from './persist.ts';
import type { Outcome } from './settlement.ts';
import type { ReceivedEvent } from './subscription.ts';

export interface BatchConsumerOptions {
  kafka: KafkaClient;
  groupId: string;
  topic: string;
  /** Types the handler knows; others are passed over. Tell them apart with `isEvent(definition, event)`. */
  definitions: EventDefinition[];
  /**
   * Stores a run of events of one partition, in order, in one transaction. The offset is committed after it returns.
   * Repeats happen, also of parts of a batch in other groupings. When it fails for no outage, the events are given to
   * it one by one, so that only those at fault are put aside.
   */
  handle: (events: ReceivedEvent<unknown>[], meta: BatchMeta) => Promise<void>;
  onFatal: (error: Error) => void;
  /** Events per call at most. */
  chunkSize?: number;
  concurrency?: number;
  /** Tries of a single event that fails for no outage. */
  maxAttempts?: number;
}

export interface BatchMeta {
  topic: string;
  partition: number;
  signal: AbortSignal;
}

/**
 * Consumes many small events in batches (frames). Otherwise as `createConsumer`; the spans of a batch link
 * to its producers.
 */
export function createBatchConsumer(options: BatchConsumerOptions): EventConsumer {
  const { kafka, groupId, topic, definitions, onFatal, concurrency = 2 } = options;
  const byType = new Map(definitions.map((definition) => [definition.type, definition]));
  return createEventConsumer({ kafka, groupId, topics: [topic], onFatal }, (tools) => {
    const batches = { ...options, ...tools, byType };
    return {
      partitionsConsumedConcurrently: concurrency,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => {
        await consume(batches, payload);
        tools.progressed();
      },
    };
  });
}

interface Batches extends BatchConsumerOptions, ConsumerTools {
  byType: Map<string, EventDefinition>;
}

interface Decoded {
  message: KafkaMessage;
  type: string;
  id?: string;
  event?: ReceivedEvent<unknown>;
  problem?: DeadLetterReason;
}

async function consume(batches: Batches, payload: EachBatchPayload): Promise<void> {
  const { batch } = payload;
  const size = batches.chunkSize ?? 500;
  for (let from = 0; from < batch.messages.length; from += size) {
    if (!payload.isRunning() || payload.isStale() || batches.signal.aborted) return;
    const chunk = batch.messages.slice(from, from + size);
    await applyChunk(
      batches,
      payload,
      chunk.map((message) => decode(batches, message)),
    );
    payload.resolveOffset((chunk.at(-1) as KafkaMessage).offset);
    await payload.heartbeat();
    await payload.commitOffsetsIfNecessary();
    // Decoding a full fetch in one go would hold up everything else in the process.
    await breathe();
  }
}

async function applyChunk(batches: Batches, payload: EachBatchPayload, chunk: Decoded[]): Promise<void> {
  const events = chunk.flatMap((decoded) => (decoded.event ? [decoded] : []));
  if (events.length > 0) {
    const failed = await attempt(batches, payload, events);
    if (failed) await applySingly(batches, payload, events);
    else for (const decoded of events) settle(batches, decoded, 'handled');
  }
  for (const decoded of chunk) {
    if (decoded.problem) await aside(batches, payload, decoded, decoded.problem);
    else if (!decoded.event) settle(batches, decoded, 'skipped');
  }
}

async function applySingly(batches: Batches, payload: EachBatchPayload, events: Decoded[]): Promise<void> {
  for (const decoded of events) {
    const failed = await attempt(batches, payload, [decoded]);
    if (failed) await aside(batches, payload, decoded, handlerFailed(failed.failure));
    else settle(batches, decoded, 'handled');
  }
}

async function attempt(batches: Batches, payload: EachBatchPayload, decoded: Decoded[]) {
  const events = decoded.flatMap(({ event }) => event ?? []);
  const meta = { topic: batches.topic, partition: payload.batch.partition, signal: batches.signal };
  return persist(() => batches.handle(events, meta), {
    maxAttempts: events.length > 1 ? 1 : (batches.maxAttempts ?? 3),
    heartbeat: () => payload.heartbeat(),
    signal: batches.signal,
    onRetry: (error, { outages }) => {
      batches.signals.retried(outages > 0);
      const facts = {
        group: batches.groupId,
        topic: batches.topic,
        partition: payload.batch.partition,
        events: events.length,
      };
      batches.kafka.logger[outages > 1 ? 'debug' : 'warn']({ ...facts, outages, err: error }, 'a batch is tried again');
    },
  });
}

function decode({ byType }: Batches, message: KafkaMessage): Decoded {
  const headers = readHeaders(message);
  if (!headers)
    return {
      message,
      type: 'none',
      problem: { reason: 'not_an_event', detail: 'ce_id, ce_type or ce_source is missing' },
    };
  const known = { message, type: headers.type, id: headers.id };
  const definition = byType.get(headers.type);
  if (!definition) return known;
  const json = readJson(message.value);
  if (!json) return { ...known, problem: { reason: 'invalid_json', detail: 'the value is not JSON' } };
  const parsed = definition.schema.safeParse(json.value);
  if (!parsed.success) return { ...known, problem: { reason: 'invalid_data', detail: z.prettifyError(parsed.error) } };
  return { ...known, event: { ...headers, key: message.key?.toString() ?? '', data: parsed.data } };
}

async function aside(
  batches: Batches,
  payload: EachBatchPayload,
  decoded: Decoded,
  why: DeadLetterReason,
): Promise<void> {
  const failed = {
    topic: batches.topic,
    partition: payload.batch.partition,
    groupId: batches.groupId,
    message: decoded.message,
  };
  await putAside({ ...batches, heartbeat: () => payload.heartbeat() }, failed, why);
  settle(batches, decoded, 'dead-lettered');
}

function settle({ signals, settlements }: Batches, { type, id, event }: Decoded, outcome: Outcome): void {
  signals.settled(type, outcome, event?.time);
  if (id) settlements.record(id, outcome);
}
