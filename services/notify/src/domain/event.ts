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

/** Types of events about alarms. Each alarm has one that it opened before all others. */
export const alarmEventTypes = ['alarm.opened', 'alarm.updated', 'alarm.closed'] as const;

/** Types of events that a log has. */
export const eventTypes = [...taskEventTypes, ...alarmEventTypes] as const;
export type EventType = (typeof eventTypes)[number];

/** The type that a reader finds in place of events that expired before it read them. */
export const MISSED = 'events.missed';

/** A fact for the log of a subject. */
export interface NewEvent {
  eventId: string;
  subject: string;
  type: EventType;
  taskId: string;
  occurredAt: Date;
  /** Unix time in milliseconds of what the event is about; undefined when it has none, as frames of an upload. */
  factAt?: number | undefined;
  /** JSON. */
  data: string;
}

/** An event of the log. */
export interface LoggedEvent {
  event_id: string;
  type: EventType | typeof MISSED;
  /** Its number in the log of the subject. */
  position: number;
  occurred_at: Date;
  data: string;
}

/**
 * The id of an event: a UUIDv7 of the time at which it happened whose other bits follow from what it says. An event
 * that is logged anew, after a database was set back, gets the same id again.
 */
export function eventIdOf(occurredAt: Date, fact: string): string {
  const bytes = createHash('sha256').update(fact).digest().subarray(0, 16);
  bytes.writeUIntBE(occurredAt.getTime(), 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** What a reader gets in place of the events behind `after` that expired, with the number and time of the last one. */
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
    data: JSON.stringify({ after_sequence: after, to_sequence: position }),
  };
}
