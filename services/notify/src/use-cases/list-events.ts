import { readHead, readLog } from '../db/event-log.ts';
import { cursorInvalid } from '../domain/cursor.ts';
import type { EventPlace } from '../domain/cursor.ts';
import type { LoggedEvent } from '../domain/event.ts';
import type { EventQuery } from '../domain/event-query.ts';
import type { Deps } from './deps.ts';

export interface EventList {
  items: LoggedEvent[];
  /** Empty on the last page. */
  nextCursor: string;
  resumeCursor: string;
}

/**
 * A page of the log of a subject. The end of the log is read before its events: what is logged in between belongs to
 * whoever resumes.
 */
export async function listEvents(
  { db, cursors }: Pick<Deps, 'db' | 'cursors'>,
  subject: string,
  { cursor, limit, types, order }: EventQuery,
): Promise<EventList> {
  const given = cursor === undefined ? undefined : cursors.decode(subject, cursor);
  if (given && order !== undefined && given.order !== order) throw cursorInvalid();
  const head = await readHead(db, subject);
  const place = given ?? firstPlace(order ?? 'oldest', head);
  const found = await readLog(db, { subject, types, ...rangeOf(place, head), limit: limit + 1 });
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  const last = items.at(-1)?.position ?? place.position;
  const encode = (position: number, next: EventPlace['order']) =>
    cursors.encode(subject, { order: next, position, head: place.head });
  const nextCursor = hasMore ? encode(last, place.order) : '';
  if (place.order === 'newest') return { items, nextCursor, resumeCursor: encode(place.head, 'oldest') };
  return { items, nextCursor, resumeCursor: encode(hasMore ? last : head, 'oldest') };
}

/** Backwards, the first event to read is the newest: the reader "has" the one behind it. */
const firstPlace = (order: EventPlace['order'], head: number): EventPlace =>
  order === 'oldest' ? { order, position: 0, head } : { order, position: head + 1, head };

/** A place behind the end belongs to a log that was set back: its reader goes on at the end. */
const rangeOf = ({ order, position }: EventPlace, head: number) =>
  order === 'oldest'
    ? ({ after: Math.min(position, head), upTo: head, order: 'asc' } as const)
    : ({ after: 0, upTo: position - 1, order: 'desc' } as const);
