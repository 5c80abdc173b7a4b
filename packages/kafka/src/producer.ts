import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { Message, Producer } from 'kafkajs';
import { asUnavailable } from '@vision/shared/unavailable';
import { createAcknowledgementCheck } from './acknowledgement.ts';
import { toMessage } from './cloud-event.ts';
import type { OutgoingEvent } from './cloud-event.ts';
import { ANSWER_MS } from './kafka.ts';
import type { KafkaClient } from './kafka.ts';
import { partitionOf } from './partition-of.ts';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import { outcomeOf } from '@vision/shared/upstream/classify';
import { factsOf } from '@vision/shared/upstream/upstream-facts';

/** One event together with the trace context it belongs to. */
export interface TracedEvent {
  event: OutgoingEvent;
  context: Context;
  /** Put on the span of this event, e.g. how long it waited. */
  attributes?: Record<string, string | number>;
}

export interface RawMessage extends Message {
  topic: string;
}

export interface EventProducer {
  /**
   * Resolves when the broker has acknowledged the partition of every event: each in-sync replica has it. Events of one
   * key arrive in the order of the list. Each gets its own span in the active trace. After a rejection the outcome is
   * unknown: some events may have arrived, so publish all of them again.
   * @throws AppError of kind `unavailable` while Kafka is unavailable.
   */
  publish: (events: OutgoingEvent[]) => Promise<void>;
  /** As `publish`, but every event is published in its own trace. */
  publishTraced: (events: TracedEvent[]) => Promise<void>;
  /** As `publish` for many small events of one source (frames): one span for the whole batch. */
  publishBatch: (events: OutgoingEvent[]) => Promise<void>;
  /**
   * The partition of a key among those that the topic has now. A caller that stores it and sets it in every event of
   * the key preserves their order when partitions are added.
   * @throws AppError of kind `unavailable` while Kafka is unavailable.
   */
  partitionOf: (topic: string, key: string) => Promise<number>;
  /** Passes records on as they are, headers included; topic names are prefixed. */
  publishRaw: (messages: RawMessage[]) => Promise<void>;
  stop: () => Promise<void>;
}

/**
 * A producer that connects with the first event, so a service starts while Kafka is unavailable. `acks=all` and one
 * request in flight preserve the order without the idempotent producer, whose sequence errors never heal; consumers
 * handle repeats.
 */
export function createProducer(client: KafkaClient): EventProducer {
  const send = createSender(client);
  const publishTraced = async (events: TracedEvent[]) => {
    const spans = events.map(startSpan);
    const messages = events.map(({ event, context: origin }, index) => ({
      topic: event.topic,
      ...toMessage(event, traceHeaders(trace.setSpan(origin, spans[index] as Span))),
    }));
    await endingSpans(spans, () => send.batch(messages));
  };
  return {
    publish: (events) => publishTraced(events.map((event) => ({ event, context: context.active() }))),
    publishTraced,
    publishBatch: async (events) => {
      const [first] = events;
      if (!first) return;
      const span = startSpan({
        event: first,
        context: context.active(),
        attributes: { 'messaging.batch.message_count': events.length },
      });
      const headers = traceHeaders(trace.setSpan(context.active(), span));
      await endingSpans([span], () =>
        send.batch(events.map((event) => ({ topic: event.topic, ...toMessage(event, headers) }))),
      );
    },
    partitionOf: (topic, key) => partitionOf(client, topic, key),
    publishRaw: (messages) => send.batch(messages),
    stop: send.stop,
  };
}

/** Time limit of the broker for in-sync replicas; the client waits slightly longer for the response. */
const SEND_MS = 8_000;
/** Maximum delay until keys are distributed over added partitions. */
const METADATA_MS = 30_000;

interface Sender {
  batch: (messages: RawMessage[]) => Promise<void>;
  stop: () => Promise<void>;
}

function createSender({ kafka, compression, nameOf }: KafkaClient): Sender {
  const acknowledgement = createAcknowledgementCheck();
  const producer: Producer = kafka.producer({
    allowAutoTopicCreation: false,
    maxInFlightRequests: 1,
    metadataMaxAge: METADATA_MS,
    createPartitioner: acknowledgement.createPartitioner,
    // Callers retry without limit where it matters. Few retries here keep stops short and leases alive.
    retry: { initialRetryTime: 100, retries: 5, maxRetryTime: 2_000 },
  });
  let connecting: Promise<void> | undefined;
  const connect = async () => {
    connecting ??= producer.connect();
    try {
      await connecting;
    } catch (error) {
      connecting = undefined;
      throw error;
    }
  };
  return {
    batch: async (messages) => {
      if (messages.length === 0) return;
      try {
        await callUpstream(
          { upstream: 'kafka', operation: 'send', limitMs: ANSWER_MS, isPartOfTrace: true },
          async () => {
            await connect();
            const topicMessages = byTopic(messages, nameOf);
            const answer = await producer.sendBatch({ acks: -1, timeout: SEND_MS, compression, topicMessages });
            acknowledgement.verify(topicMessages, answer);
          },
        );
      } catch (error) {
        throw asUnavailable(error) ?? error;
      }
    },
    stop: async () => {
      if (connecting) await connecting.catch(() => undefined);
      await producer.disconnect();
    },
  };
}

function byTopic(messages: RawMessage[], nameOf: (name: string) => string) {
  const groups = new Map<string, Message[]>();
  for (const { topic, ...message } of messages) {
    const name = nameOf(topic);
    const group = groups.get(name);
    if (group) group.push(message);
    else groups.set(name, [message]);
  }
  return [...groups].map(([topic, group]) => ({ topic, messages: group }));
}

function startSpan({ event, context: origin, attributes }: TracedEvent): Span {
  return trace.getTracer('vision.messaging').startSpan(
    `send ${event.topic}`,
    {
      kind: SpanKind.PRODUCER,
      attributes: {
        'messaging.system': 'kafka',
        'messaging.operation.type': 'send',
        'messaging.destination.name': event.topic,
        'messaging.kafka.message.key': event.key,
        'cloudevents.event_type': event.type,
        ...attributes,
      },
    },
    origin,
  );
}

function traceHeaders(of: Context): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(of, headers);
  return headers;
}

async function endingSpans(spans: Span[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    for (const span of spans) span.setAttributes(failureOf(error)).setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

/** A call made by a poller has no span, so the span of the event records the failure. */
function failureOf(error: unknown): Attributes {
  const facts = factsOf(error);
  return {
    'error.type': outcomeOf(error),
    'app.upstream.name': 'kafka',
    ...(facts && { 'app.upstream.spent_ms': facts.spent_ms }),
    ...(facts?.limit_ms !== undefined && { 'app.timeout.limit_ms': facts.limit_ms }),
  };
}
