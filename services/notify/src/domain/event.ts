import { createHash } from 'node:crypto';

/** The types of events, in the order of the document. */
export const eventTypes = [
  'task.running',
  'task.resolving',
  'task.succeeded',
  'task.stopped',
  'task.failed',
  'task.refunded',
] as const;
export type EventType = (typeof eventTypes)[number];

/** A fact for the log of a subject. */
export interface NewEvent {
  eventId: string;
  subject: string;
  type: EventType;
  taskId: string;
  occurredAt: Date;
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
