import type { KafkaMessage } from 'kafkajs';
import { dlqTopic } from '../contracts/topics.ts';
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

/** Copies a record, headers and all, to `<topic>.dlq` with the reason in `dlq_…` headers; resolves once it is safe there. */
export async function deadLetter(producer: EventProducer, delivery: FailedDelivery, { reason, detail }: DeadLetterReason): Promise<void> {
  const { topic, partition, groupId, message } = delivery;
  await producer.publishRaw([
    {
      topic: dlqTopic(topic),
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
    },
  ]);
}
