import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { KafkaMessage } from 'kafkajs';
import { dlqTopic } from '../contracts/topics.ts';
import type { KafkaClient } from './kafka.ts';
import { persist } from './persist.ts';
import type { EventProducer } from './producer.ts';

/** Why a record was put aside. */
export interface DeadLetterReason {
  /** snake_case: `not_an_event`, `invalid_json`, `invalid_data`, `handler_failed`. */
  reason: string;
  /** For people; no stack. */
  detail: string;
}

export interface FailedDelivery {
  /** Without prefix. */
  topic: string;
  partition: number;
  groupId: string;
  message: KafkaMessage;
}

export interface DeadLetterDeps {
  kafka: KafkaClient;
  producer: EventProducer;
  heartbeat: () => Promise<void>;
  signal: AbortSignal;
}

/**
 * Copies a record, headers and all, to `<topic>.dlq` with the reason in `dlq_…` headers. Resolves once it is safe
 * there, and tries for as long as that takes: a record is never passed over.
 */
export async function putAside(deps: DeadLetterDeps, delivery: FailedDelivery, why: DeadLetterReason): Promise<void> {
  const { topic, partition, groupId, message } = delivery;
  const facts = { group: groupId, topic, partition, offset: message.offset, reason: why.reason, detail: why.detail };
  deps.kafka.logger.error(facts, 'an event was put into the dead letter topic');
  trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR, message: why.reason });
  await persist(() => deps.producer.publishRaw([{ topic: dlqTopic(topic), ...withReason(delivery, why) }]), {
    maxAttempts: Infinity,
    heartbeat: deps.heartbeat,
    signal: deps.signal,
    onRetry: (error) =>
      deps.kafka.logger.error({ ...facts, err: error }, 'the dead letter topic does not take the event'),
  });
}

export function handlerFailed(failure: unknown): DeadLetterReason {
  return {
    reason: 'handler_failed',
    detail: failure instanceof Error ? `${failure.name}: ${failure.message}` : 'thrown value',
  };
}

function withReason({ topic, partition, groupId, message }: FailedDelivery, { reason, detail }: DeadLetterReason) {
  return {
    key: message.key,
    value: message.value,
    headers: {
      ...message.headers,
      dlq_reason: reason,
      dlq_detail: detail.slice(0, 2_000),
      dlq_topic: topic,
      dlq_partition: String(partition),
      dlq_offset: message.offset,
      dlq_group: groupId,
      dlq_at: new Date().toISOString(),
    },
  };
}
