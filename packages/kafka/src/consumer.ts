import type { EachMessagePayload } from 'kafkajs';
import type { Knex } from 'knex';
import { readHeaders, readData } from './cloud-event.ts';
import type { EventHeaders } from './cloud-event.ts';
import { handlerFailed, putAside } from './dead-letter.ts';
import type { DeadLetterReason } from './dead-letter.ts';
import { createEventConsumer } from './event-consumer.ts';
import type { ConsumerTools, EventConsumer } from './event-consumer.ts';
import type { KafkaClient } from './kafka.ts';
import { epochsOf } from './leader-epoch.ts';
import { HELD_UP, isLineDue } from './persist.ts';
import type { PersistOptions } from './persist.ts';
import { inRecordSpan } from './consumer-spans.ts';
import type { Outcome } from './outcome.ts';
import type { DeliveryMeta, Subscription } from './subscription.ts';

export type { EventConsumer } from './event-consumer.ts';

export interface ConsumerOptions {
  /** The database that the handlers write to; it has the table of `positionsMigration`. */
  db: Knex;
  kafka: KafkaClient;
  /** One per service and purpose; the positions belong to it. */
  groupId: string;
  subscriptions: Subscription[];
  /** The process should end with a failure: this consumer cannot go on in it. */
  onFatal: (error: Error) => void;
  /**
   * The handlers make again, from records of any age, what a database has lost: a partition without a row in it is read
   * from the earliest record, not from where the group has committed.
   */
  rebuilds?: boolean;
  /** How often the positions of partitions at rest are compared with the database. */
  compareMs?: number;
}

/** Partitions that are worked on at the same time. */
const CONCURRENCY = 3;
/** Tries of an event that fails for no outage. */
const MAX_ATTEMPTS = 5;

/**
 * Consumes events one by one, in order per key: parse → handler and position in one transaction. Types without a
 * subscription are skipped. An unreadable record goes to the dead letter topic and its partition continues. The trace
 * of the producer is active in the handler.
 */
export function createConsumer(options: ConsumerOptions): EventConsumer {
  const { db, kafka, groupId, subscriptions, onFatal, rebuilds, compareMs } = options;
  const topicOf = new Map(subscriptions.map(({ definition }) => [kafka.nameOf(definition.topic), definition.topic]));
  const byType = indexByType(subscriptions);
  const topics = [...new Set(topicOf.values())];
  return createEventConsumer({ db, kafka, groupId, topics, onFatal, rebuilds, compareMs }, (tools) => {
    const delivery = { ...tools, kafka, groupId, byType, topicOf };
    return {
      partitionsConsumedConcurrently: CONCURRENCY,
      eachMessage: async (payload) => {
        await inRecordSpan({ ...payload, groupId }, payload.message, () => deliver(delivery, payload));
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
  if (outcome === 'sought') return;
  delivery.signals.settled(shownType(delivery, headers), outcome, headers?.time);
  if (headers) delivery.settled(headers.id, outcome);
}

/** What metrics call a type: records may be written by others, who could make up any number of them. */
function shownType({ byType }: Delivery, headers: EventHeaders | undefined): string {
  if (!headers) return 'none';
  return byType.has(headers.type) ? headers.type : 'other';
}

/** `sought`: the consumer was sent elsewhere and gets this record again. */
async function dispatch(
  delivery: Delivery,
  payload: EachMessagePayload,
  headers: EventHeaders | undefined,
): Promise<Outcome | 'sought'> {
  if (!headers)
    return aside(delivery, payload, { reason: 'not_an_event', detail: 'ce_id, ce_type or ce_source is missing' });
  const subscription = delivery.byType.get(headers.type);
  if (!subscription || subscription.definition.topic !== delivery.topicOf.get(payload.topic))
    return passOver(delivery, payload, 'skipped');
  const data = readData(subscription.definition, payload.message.value);
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
): Promise<Outcome | 'sought'> {
  const { partition, message } = payload;
  const meta = { topic: subscription.definition.topic, partition, offset: message.offset, signal: delivery.signal };
  const passing = await delivery.pass(
    recordsOf(payload),
    (transaction, attempt) => run({ ...meta, attempt, transaction }),
    retriesOf(delivery, payload, { headers }),
  );
  if (passing === 'sought') return 'sought';
  if (passing === 'passed') return 'handled';
  return aside(delivery, payload, handlerFailed(passing.failure));
}

/** Goes on behind a record that has no effects; only an outage can keep it from that. */
async function passOver<O extends Outcome>(
  delivery: Delivery,
  payload: EachMessagePayload,
  outcome: O,
): Promise<O | 'sought'> {
  const passing = await delivery.pass(recordsOf(payload), () => Promise.resolve(), retriesOf(delivery, payload));
  return passing === 'sought' ? 'sought' : outcome;
}

async function aside(
  delivery: Delivery,
  payload: EachMessagePayload,
  why: DeadLetterReason,
): Promise<Outcome | 'sought'> {
  const { topic, partition, message } = payload;
  const failed = { topic: delivery.topicOf.get(topic) ?? topic, partition, groupId: delivery.groupId, message };
  await putAside({ ...delivery, heartbeat: () => payload.heartbeat() }, failed, why);
  return passOver(delivery, payload, 'dead-lettered');
}

const recordsOf = ({ topic, partition, message }: EachMessagePayload) => ({
  topic,
  partition,
  next: BigInt(message.offset) + 1n,
  epochs: epochsOf(message),
});

function retriesOf(
  delivery: Delivery,
  payload: EachMessagePayload,
  matched?: Pick<Matched, 'headers'>,
): PersistOptions {
  const { signals, groupId: group, signal } = delivery;
  const { topic, partition, message } = payload;
  const { logger } = delivery.kafka;
  const facts = {
    group,
    topic: delivery.topicOf.get(topic) ?? topic,
    partition,
    offset: message.offset,
    event_id: matched?.headers.id,
    type: matched?.headers.type,
  };
  return {
    maxAttempts: matched ? MAX_ATTEMPTS : Infinity,
    heartbeat: () => payload.heartbeat(),
    signal,
    onRetry: (error, retry) => {
      const { attempt, outages, storeFaults } = retry;
      signals.retried(outages > 0);
      if (storeFaults > 0) signals.blocked();
      if (isLineDue(retry)) logger.error({ ...facts, attempt, err: error }, HELD_UP);
      if (storeFaults === 0)
        logger[outages > 1 ? 'debug' : 'warn']({ ...facts, attempt, outages, err: error }, 'an event is tried again');
    },
  };
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
