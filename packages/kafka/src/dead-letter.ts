import { createHash } from 'node:crypto';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import { dlqTopic } from '@vision/contracts/topics';
import type { KafkaClient } from './kafka.ts';
import { isTooLarge } from './too-large.ts';
import { persist } from './persist.ts';
import type { EventProducer } from './producer.ts';

/** Why a record became a dead letter. */
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
 * Copies a record with its headers to `<topic>.dlq`, with the reason in `dlq_…` headers. Retries until the copy is
 * safe there: a record is never skipped. If the broker refuses a copy as too large, the dead letter omits the value, so
 * that the record does not block its partition.
 */
export async function putAside(deps: DeadLetterDeps, delivery: FailedDelivery, why: DeadLetterReason): Promise<void> {
  const { topic, partition, groupId, message } = delivery;
  const facts = { group: groupId, topic, partition, offset: message.offset, reason: why.reason, detail: why.detail };
  deps.kafka.logger.error(facts, 'event sent to the dead letter topic');
  trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR, message: why.reason });
  const publish = (copy: Copy) => deps.producer.publishRaw([{ topic: dlqTopic(topic), ...copy }]);
  const publishWhatFits = async () => {
    try {
      await publish({ ...message, headers: { ...message.headers, ...reasonHeaders(delivery, why) } });
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      deps.kafka.logger.error(facts, 'event too large for the dead letter topic; sent without its value');
      await publish(withoutValue(delivery, why));
    }
  };
  await persist(publishWhatFits, {
    maxAttempts: Infinity,
    heartbeat: deps.heartbeat,
    signal: deps.signal,
    onRetry: (error) =>
      deps.kafka.logger.error({ ...facts, err: error }, 'event not accepted by the dead letter topic'),
  });
}

export function handlerFailed(failure: unknown): DeadLetterReason {
  return {
    reason: 'handler_failed',
    detail: failure instanceof Error ? `${failure.name}: ${failure.message}` : 'thrown value',
  };
}

type Copy = Pick<KafkaMessage, 'key' | 'value'> & { headers: IHeaders };

function reasonHeaders({ topic, partition, groupId, message }: FailedDelivery, { reason, detail }: DeadLetterReason) {
  return {
    dlq_reason: reason,
    dlq_detail: detail.slice(0, 2_000),
    dlq_topic: topic,
    dlq_partition: String(partition),
    dlq_offset: message.offset,
    dlq_group: groupId,
    dlq_at: new Date().toISOString(),
  };
}

/** Keys and headers are a few hundred bytes; larger ones are left out with the value. */
const MAX_KEPT_BYTES = 65_536;

/** The facts about a record that is too large to be copied: its position in the topic, its size and its digest. */
function withoutValue(delivery: FailedDelivery, { reason, detail }: DeadLetterReason): Copy {
  const { key, headers = {}, value } = delivery.message;
  const bytes = value?.length ?? 0;
  const left = `The value of ${bytes} bytes was too large for the dead letter topic and was left out.`;
  const isKept = (key?.length ?? 0) + sizeOf(headers) <= MAX_KEPT_BYTES;
  return {
    key: isKept ? key : null,
    value: null,
    headers: {
      ...(isKept ? headers : {}),
      ...reasonHeaders(delivery, { reason, detail: `${left} ${detail}` }),
      [OMITTED_BYTES]: String(bytes),
      [VALUE_DIGEST]: createHash('sha256')
        .update(value ?? Buffer.of())
        .digest('hex'),
    },
  };
}

/** Header of a dead letter without its value: how many bytes the value had. */
export const OMITTED_BYTES = 'dlq_value_bytes';
/** And its SHA-256. */
export const VALUE_DIGEST = 'dlq_value_sha256';

const sizeOf = (headers: IHeaders): number =>
  Object.entries(headers).reduce(
    (sum, [name, values]) =>
      [values ?? ''].flat().reduce((all, value) => all + Buffer.byteLength(value), sum + name.length),
    0,
  );
