import type { KafkaMessage } from 'kafkajs';
import { z } from 'zod';
import type { EventDefinition } from '@vision/contracts/envelope';
import { headerText, readData, readHeaders } from './cloud-event.ts';
import type { DeadLetterReason } from './dead-letter.ts';
import type { ReceivedEvent } from './subscription.ts';

/** Definitions by the type that they define. */
export type ByType = ReadonlyMap<string, EventDefinition>;

/** A record as it was read: with its event, with a problem that makes it a dead letter, or with neither. */
export interface Decoded {
  message: KafkaMessage;
  type: string;
  id?: string;
  event?: ReceivedEvent<unknown>;
  problem?: DeadLetterReason;
}

/** Where the records end that are handled together: those that `chunkSize` allows, or one that is more by itself. */
export function endOfChunk(
  { byType, chunkSize }: { byType: ByType; chunkSize: number },
  messages: readonly KafkaMessage[],
  from: number,
) {
  let load = 0;
  let end = from;
  for (; end < messages.length; end += 1) {
    const { headers, value } = messages[end] as KafkaMessage;
    const binary = byType.get(headerText(headers, 'ce_type') ?? '')?.binary;
    const more = binary && value ? binary.load(value) : 1;
    if (load + more > chunkSize && end > from) break;
    load += more;
  }
  return { end, load };
}

/** Reads a record by the definition of its type; one without is passed over. */
export function decodeRecord(byType: ByType, message: KafkaMessage): Decoded {
  const definition = byType.get(headerText(message.headers, 'ce_type') ?? '');
  const headers = readHeaders(message, definition?.binary);
  if (!headers)
    return {
      message,
      type: 'none',
      problem: { reason: 'not_an_event', detail: 'ce_id, ce_type or ce_source is missing' },
    };
  const known = { message, type: headers.type, id: headers.id };
  if (!definition) return known;
  const read = readData(definition, message.value);
  if (!read) return { ...known, problem: { reason: 'invalid_json', detail: 'the value is not JSON' } };
  const parsed = definition.schema.safeParse(read.value);
  if (!parsed.success) return { ...known, problem: { reason: 'invalid_data', detail: z.prettifyError(parsed.error) } };
  return { ...known, event: { ...headers, key: message.key?.toString() ?? '', data: parsed.data } };
}
