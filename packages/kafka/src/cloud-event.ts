import { randomUUID } from 'node:crypto';
import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import type { BinaryEvent, EventDefinition } from '@vision/contracts/envelope';

/** An event on its way out. */
export interface OutgoingEvent {
  topic: string;
  /** Kafka key: the task id. Events of one key keep their order. */
  key: string;
  /** Partition of the event; when left out, the key chooses. */
  partition?: number | undefined;
  /** `ce_type`. */
  type: string;
  /** `ce_source`: the service. A binary event does not carry it. */
  source: string;
  /** Sent as JSON; the bytes of a binary event as they are. */
  data: unknown;
  /** `ce_id`; a fresh one when left out, none for a binary event. A repeat of the same fact must repeat the id. */
  id?: string;
  /** When the fact happened; now when left out. */
  time?: Date;
}

/** What the headers of a received event say. */
export interface EventHeaders {
  id: string;
  type: string;
  source: string;
  time: Date;
}

/**
 * CloudEvents 1.0, Kafka protocol binding, binary content mode: attributes in headers; `data` is the value as JSON.
 *
 * A binary event is no CloudEvent: its only header is the type, from which source and content type follow. The time is
 * that of the record, and key and offset name it. Of segments of a frame or two, full headers would be a third of the
 * topic.
 */
export function toMessage(event: OutgoingEvent, headers: Record<string, string> = {}): Message {
  const { data } = event;
  const isBinary = data instanceof Uint8Array;
  return {
    key: event.key,
    ...(event.partition === undefined ? {} : { partition: event.partition }),
    value: isBinary ? Buffer.from(data) : JSON.stringify(data),
    headers: { ...headers, ...(isBinary ? binaryHeaders(event) : jsonHeaders(event)) },
  };
}

const jsonHeaders = ({ type, source, id, time }: OutgoingEvent) => ({
  ce_specversion: '1.0',
  ce_id: id ?? randomUUID(),
  ce_source: source,
  ce_type: type,
  ce_time: (time ?? new Date()).toISOString(),
  'content-type': 'application/json',
});

const binaryHeaders = ({ type, id, time }: OutgoingEvent) => ({
  ce_type: type,
  ...(id !== undefined && { ce_id: id }),
  ...(time && { ce_time: time.toISOString() }),
});

/**
 * Reads the event attributes of a record; undefined when one that is required is missing. What a binary event leaves
 * out follows from its definition and its record.
 */
export function readHeaders(
  message: Pick<KafkaMessage, 'headers' | 'timestamp' | 'key' | 'offset'>,
  binary?: BinaryEvent,
): EventHeaders | undefined {
  const type = headerText(message.headers, 'ce_type');
  const id = headerText(message.headers, 'ce_id') ?? (binary && `${message.key?.toString()}@${message.offset}`);
  const source = headerText(message.headers, 'ce_source') ?? binary?.source;
  if (!id || !type || !source) return undefined;
  const time = new Date(headerText(message.headers, 'ce_time') ?? Number(message.timestamp));
  return { id, type, source, time: Number.isNaN(time.getTime()) ? new Date(Number(message.timestamp)) : time };
}

/** What the schema of an event reads: the bytes of a binary one, else the JSON; undefined when it is not JSON. */
export const readData = ({ binary }: EventDefinition, value: Buffer | null): { value: unknown } | undefined =>
  binary ? { value } : readJson(value);

/** The value of a record as JSON, wrapped so that `null` can be told from "not JSON". */
function readJson(value: Buffer | null): { value: unknown } | undefined {
  if (!value) return undefined;
  try {
    return { value: JSON.parse(value.toString('utf8')) as unknown };
  } catch {
    return undefined;
  }
}

/** The first value of a header as text. */
export function headerText(headers: IHeaders | undefined, name: string): string | undefined {
  const value = headers?.[name];
  const first = Array.isArray(value) ? value[0] : value;
  return first?.toString();
}
