import { createHash } from 'node:crypto';

/** Types of events about tasks, in the order of the document. */
export const taskEventTypes = [
  'task.running',
  'task.resolving',
  'task.succeeded',
  'task.stopped',
  'task.failed',
  'task.refunded',
] as const;

/** Types of events about alarms. Each alarm has one `alarm.opened` before all others. */
export const alarmEventTypes = ['alarm.opened', 'alarm.updated', 'alarm.closed'] as const;

/** Types of events about webhook and MQTT endpoints. */
export const endpointEventTypes = [
  'webhook_endpoint.disabled',
  'webhook_endpoint.test',
  'mqtt_endpoint.disabled',
] as const;

/** Type of events that an endpoint was not sent, or that expired before they were read. */
export const MISSED = 'events.missed';

/** Types of events in a log. */
export const eventTypes = [...taskEventTypes, ...alarmEventTypes, ...endpointEventTypes, MISSED] as const;
export type EventType = (typeof eventTypes)[number];

/** A fact for the log of a subject. */
export interface NewEvent {
  eventId: string;
  subject: string;
  type: EventType;
  /** Absent: the event is about no task. */
  taskId?: string | undefined;
  occurredAt: Date;
  /** Unix time in milliseconds of the fact; undefined without a time of day, as for frames of an upload. */
  factAt?: number | undefined;
  /** JSON. */
  data: string;
}

/** An event of the log. */
export interface LoggedEvent {
  event_id: string;
  type: EventType;
  /** Its number in the log of the subject. */
  position: number;
  occurred_at: Date;
  data: string;
}

/** An event in the form for callers: on a page, in a stream, and as the body of a webhook. */
export const eventBody = ({ event_id, type, occurred_at, position, data }: LoggedEvent) => ({
  event_id,
  type,
  timestamp: occurred_at.toISOString(),
  sequence: position,
  data: JSON.parse(data) as unknown,
});

/**
 * The id of an event: a UUIDv7 of its time, with the other bits derived from its content. An event that is logged
 * again, after the database was restored, gets the same id.
 */
export function eventIdOf(occurredAt: Date, fact: string): string {
  const bytes = createHash('sha256').update(fact).digest().subarray(0, 16);
  bytes.writeUIntBE(occurredAt.getTime(), 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Event for a reader whose number is no longer in the log: a restore set the log back to `head`, and later events are
 * lost.
 */
export function lostEvents(subject: string, { head, position }: { head: number; position: number }): LoggedEvent {
  // Numbers are times of logging: the same loss is the same event at any time of reading.
  const at = new Date(position);
  return {
    event_id: eventIdOf(at, `lost ${subject} ${head} ${position}`),
    type: MISSED,
    position: Math.max(1, head),
    occurred_at: at,
    data: JSON.stringify({ first_sequence: head + 1, last_sequence: position }),
  };
}

/** Event that replaces the expired events after `after`; has the number and time of the last one. */
export function missedEvents(
  subject: string,
  after: number,
  { position, at }: { position: number; at: Date },
): LoggedEvent {
  return {
    event_id: eventIdOf(at, `missed ${subject} ${after} ${position}`),
    type: MISSED,
    position,
    occurred_at: at,
    data: JSON.stringify({ first_sequence: after + 1, last_sequence: position }),
  };
}
