import type { EachMessagePayload } from 'kafkajs';
import { readHeaders, readJson } from './cloud-event.ts';
import type { EventHeaders } from './cloud-event.ts';
import { handlerFailed, putAside } from './dead-letter.ts';
import type { DeadLetterReason } from './dead-letter.ts';
import { createEventConsumer } from './event-consumer.ts';
import type { ConsumerTools, EventConsumer } from './event-consumer.ts';
import type { KafkaClient } from './kafka.ts';
import { persist } from './persist.ts';
import type { Outcome } from './settlement.ts';
import type { DeliveryMeta, Subscription } from './subscription.ts';

export type { EventConsumer } from './event-consumer.ts';

export interface ConsumerOptions {
  kafka: KafkaClient;
  /** One per service and purpose; the offsets belong to it. */
  groupId: string;
  subscriptions: Subscription[];
  /** The process should end with a failure: this consumer cannot go on in it. */
  onFatal: (error: Error) => void;
  /** Partitions that are worked on at the same time. */
  concurrency?: number;
}

/**
 * Consumes events one by one, in order per key: parse → handler → commit. Types nobody subscribed to are passed
 * over; what cannot be read goes to the dead letter topic and its partition goes on. The trace of the producer is
 * active in the handler.
 */
export function createConsumer(options: ConsumerOptions): EventConsumer {
  const { kafka, groupId, subscriptions, onFatal, concurrency = 3 } = options;
  const topicOf = new Map(subscriptions.map(({ definition }) => [kafka.nameOf(definition.topic), definition.topic]));
  const byType = indexByType(subscriptions);
  const topics = [...new Set(topicOf.values())];
  return createEventConsumer({ kafka, groupId, topics, onFatal }, (tools) => {
    const delivery = { ...tools, kafka, groupId, byType, topicOf };
    return {
      partitionsConsumedConcurrently: concurrency,
      eachMessage: async (payload) => {
        await deliver(delivery, payload);
        tools.progressed();
      },
    };
  });
}

interface Delivery extends ConsumerTools {
  kafka: KafkaClient;
  groupId: string;
  byType: Map<string, Subscription>;
  topicOf: Map<string, string>;
}

async function deliver(delivery: Delivery, payload: EachMessagePayload): Promise<void> {
  const headers = readHeaders(payload.message);
  const outcome = await dispatch(delivery, payload, headers);
  delivery.signals.settled(headers?.type ?? 'none', outcome, headers?.time);
  if (headers) delivery.settlements.record(headers.id, outcome);
}

async function dispatch(
  delivery: Delivery,
  payload: EachMessagePayload,
  headers: EventHeaders | undefined,
): Promise<Outcome> {
  if (!headers)
    return aside(delivery, payload, { reason: 'not_an_event', detail: 'ce_id, ce_type or ce_source is missing' });
  const subscription = delivery.byType.get(headers.type);
  if (!subscription || subscription.definition.topic !== delivery.topicOf.get(payload.topic)) return 'skipped';
  const data = readJson(payload.message.value);
  if (!data) return aside(delivery, payload, { reason: 'invalid_json', detail: 'the value is not JSON' });
  const key = payload.message.key?.toString() ?? '';
  const prepared = subscription.prepare({ ...headers, key }, data.value);
  if ('problem' in prepared) return aside(delivery, payload, { reason: 'invalid_data', detail: prepared.problem });
  return handle(delivery, payload, { subscription, run: prepared.run, headers });
}

interface Matched {
  subscription: Subscription;
  run: (meta: DeliveryMeta) => Promise<void>;
  headers: EventHeaders;
}

async function handle(
  delivery: Delivery,
  payload: EachMessagePayload,
  { subscription, run, headers }: Matched,
): Promise<Outcome> {
  const { partition, message } = payload;
  const { topic } = subscription.definition;
  const facts = {
    group: delivery.groupId,
    topic,
    partition,
    offset: message.offset,
    event_id: headers.id,
    type: headers.type,
  };
  const failed = await persist(
    (attempt) => run({ topic, partition, offset: message.offset, attempt, signal: delivery.signal }),
    {
      maxAttempts: subscription.onFailure === 'block' ? Infinity : subscription.maxAttempts,
      heartbeat: () => payload.heartbeat(),
      signal: delivery.signal,
      onRetry: (error, { attempt, outages }) => {
        const { logger } = delivery.kafka;
        delivery.signals.retried(outages > 0);
        if (outages === 0 && attempt > subscription.maxAttempts) {
          delivery.signals.blocked();
          logger.error({ ...facts, attempt, err: error }, 'an event holds up its partition');
        } else
          logger[outages > 1 ? 'debug' : 'warn']({ ...facts, attempt, outages, err: error }, 'an event is tried again');
      },
    },
  );
  if (!failed) return 'handled';
  return aside(delivery, payload, handlerFailed(failed.failure));
}

async function aside(delivery: Delivery, payload: EachMessagePayload, why: DeadLetterReason): Promise<Outcome> {
  const { topic, partition, message } = payload;
  const failed = { topic: delivery.topicOf.get(topic) ?? topic, partition, groupId: delivery.groupId, message };
  await putAside({ ...delivery, heartbeat: () => payload.heartbeat() }, failed, why);
  return 'dead-lettered';
}

function indexByType(subscriptions: Subscription[]): Map<string, Subscription> {
  const byType = new Map<string, Subscription>();
  for (const subscription of subscriptions) {
    const { type } = subscription.definition;
    if (byType.has(type)) throw new Error(`two subscriptions for ${type} in one consumer`);
    byType.set(type, subscription);
  }
  return byType;
}
