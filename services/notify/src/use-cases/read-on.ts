import type { Knex } from 'knex';
import { readLog } from '../db/event-log.ts';
import type { LogRange } from '../db/event-log.ts';
import { missedEvents } from '../domain/event.ts';
import type { LoggedEvent } from '../domain/event.ts';

/**
 * Events of a range, for a reader that has read the log up to its beginning. If some of them expired, the first one
 * says so in their place: a reader that was away for too long has to learn that it missed some.
 */
export async function readOn(db: Knex, range: LogRange): Promise<LoggedEvent[]> {
  const { events, expired } = await readLog(db, range);
  if (expired === undefined || expired.position <= range.after) return events;
  const later = events.filter(({ position }) => position > expired.position);
  return [missedEvents(range.subject, range.after, expired), ...later].slice(0, range.limit);
}
