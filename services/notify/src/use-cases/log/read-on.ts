import type { Knex } from 'knex';
import { lastBefore, readLog } from '../../db/event-log.ts';
import type { LogRange } from '../../db/event-log.ts';
import { lostEvents, missedEvents } from '../../domain/event.ts';
import type { LoggedEvent } from '../../domain/event.ts';

interface ReaderRange extends LogRange {
  /** Whether the reader has the event before the range; otherwise its number may be between those of events. */
  hasRead: boolean;
}

/**
 * Events of a range, for a reader that has read the log up to its beginning. If some of them expired, the first
 * returned event replaces them: a reader that was disconnected for too long has to know that it missed some. The same
 * applies to a reader with an event that a restored log lost before it grew again.
 */
export async function readOn(db: Knex, range: ReaderRange): Promise<LoggedEvent[]> {
  const { events, expired, hasBefore } = await readLog(db, range);
  if (range.hasRead && !hasBefore) {
    const head = await lastBefore(db, range.subject, range.after);
    return [lostEvents(range.subject, { head, position: range.after }), ...events].slice(0, range.limit);
  }
  if (expired === undefined || expired.position <= range.after) return events;
  const later = events.filter(({ position }) => position > expired.position);
  return [missedEvents(range.subject, range.after, expired), ...later].slice(0, range.limit);
}
