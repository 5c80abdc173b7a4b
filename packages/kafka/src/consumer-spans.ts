import { propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Attributes, Context, Link, TextMapGetter } from '@opentelemetry/api';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import { headerText } from './cloud-event.ts';
import { inSpan } from '@vision/shared/telemetry/in-span';
import { untraced } from '@vision/shared/telemetry/trace-context';

/** Where records come from. */
export interface Received {
  topic: string;
  partition: number;
  groupId: string;
}

/** Handles one record in the trace of its producer. */
export function inRecordSpan<T>(of: Received, message: KafkaMessage, work: () => Promise<T>): Promise<T> {
  const origin = originOf(message);
  const own = { 'messaging.kafka.offset': message.offset, 'messaging.kafka.message.key': message.key?.toString() };
  const span = tracer().startSpan(
    `process ${of.topic}`,
    { kind: SpanKind.CONSUMER, attributes: { ...attributesOf(of), ...own } },
    origin,
  );
  return inSpan(span, origin, work);
}

/**
 * Handles records of many producers in one span, in a trace of its own that links to those that sent them. When none of
 * them was recorded, neither is the batch: no trace would link to it.
 */
export function inBatchSpan<T>(of: Received, messages: KafkaMessage[], work: () => Promise<T>): Promise<T> {
  const links = linksOf(messages);
  if (links.length === 0) return untraced(work);
  const attributes = { ...attributesOf(of), 'messaging.batch.message_count': messages.length };
  // Not in the active context: the library that calls us runs in one that records nothing.
  const span = tracer().startSpan(`process ${of.topic}`, { kind: SpanKind.CONSUMER, attributes, links }, ROOT_CONTEXT);
  return inSpan(span, ROOT_CONTEXT, work);
}

const tracer = () => trace.getTracer('vision.messaging');

function attributesOf({ topic, partition, groupId }: Received): Attributes {
  return {
    'messaging.system': 'kafka',
    'messaging.operation.type': 'process',
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
    'messaging.consumer.group.name': groupId,
  };
}

/** As many as a span holds unless the environment says otherwise. */
const MOST_LINKS = 128;

function linksOf(messages: KafkaMessage[]): Link[] {
  const found = new Map<string, Link>();
  for (const message of messages) {
    const sent = trace.getSpanContext(originOf(message));
    if (sent && (sent.traceFlags & SAMPLED) !== 0) found.set(sent.spanId, { context: sent });
    if (found.size === MOST_LINKS) break;
  }
  return [...found.values()];
}

const SAMPLED = 1;

/** Not under the active context: the library that calls us runs in none. */
function originOf({ headers }: KafkaMessage): Context {
  return propagation.extract(ROOT_CONTEXT, headers ?? {}, kafkaHeaders);
}

const kafkaHeaders: TextMapGetter<IHeaders> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headerText(headers, name),
};
