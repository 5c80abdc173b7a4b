import { cursorInvalid, HAS_READ, placeBehind } from '../../domain/cursor.ts';
import type { EventCursorCodec, EventPlace } from '../../domain/cursor.ts';

export interface LogPage<T> {
  items: T[];
  /** Empty on the last page. */
  nextCursor: string;
  /** Continues with all later entries. */
  resumeCursor: string;
}

export interface PageRequest {
  cursor: string | undefined;
  limit: number;
  /** Requested order; a cursor has an order of its own. */
  order: EventPlace['order'] | undefined;
}

/** Range of a log to read: after a number, up to another one, with a limit. */
interface PageRange {
  /** Exclusive. */
  after: number;
  /** Inclusive. */
  upTo: number;
  order: 'asc' | 'desc';
  limit: number;
  /** Whether the reader has read the log up to `after`. */
  isResumed: boolean;
  /** Whether it has the event at `after`. */
  hasRead: boolean;
  /** Last number that it read of a log which was restored since; undefined otherwise. */
  lostUpTo: number | undefined;
}

interface Log<T> {
  subject: string;
  cursors: EventCursorCodec;
  /** The order of a request without one. */
  defaultOrder: EventPlace['order'];
  /** The newest number of the log. */
  head: () => Promise<number>;
  read: (range: PageRange) => Promise<T[]>;
}

/**
 * A page of numbered entries in the log of a subject. The end of the log is read before its entries: entries that are
 * added in between are for a reader that resumes.
 * @throws AppError OP-TASK-REQUEST-INVALID (`cursor_invalid`).
 */
export async function pageOfLog<T extends { position: number }>(
  { subject, cursors, defaultOrder, head: readHead, read }: Log<T>,
  { cursor, limit, order }: PageRequest,
): Promise<LogPage<T>> {
  const given = cursor === undefined ? undefined : cursors.decode(subject, cursor);
  if (given && order !== undefined && given.order !== order) throw cursorInvalid();
  const head = await readHead();
  const place = given ?? firstPlace(order ?? defaultOrder, head);
  const lostUpTo = place.order === 'oldest' && place.position > head ? place.position : undefined;
  const hasRead = given?.order === 'oldest' && given.head === HAS_READ;
  const range = { ...rangeOf(place, head), limit: limit + 1 };
  const found = await read({ ...range, isResumed: given !== undefined, hasRead, lostUpTo });
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  const last = items.at(-1)?.position ?? place.position;
  const behind = (position: number) => cursors.encode(subject, placeBehind(position));
  if (place.order === 'newest') {
    const nextCursor = hasMore ? cursors.encode(subject, { ...place, position: last }) : '';
    return { items, nextCursor, resumeCursor: behind(place.head) };
  }
  return { items, nextCursor: hasMore ? behind(last) : '', resumeCursor: behind(hasMore ? last : head) };
}

/** Backwards, reading begins with the newest entry: the reader "has" the number after it. */
const firstPlace = (order: EventPlace['order'], head: number): EventPlace =>
  order === 'oldest' ? { order, position: 0, head } : { order, position: head + 1, head };

/** A position after the end belongs to a log that was restored: its reader continues at the end. */
const rangeOf = ({ order, position }: EventPlace, head: number) =>
  order === 'oldest'
    ? ({ after: Math.min(position, head), upTo: head, order: 'asc' } as const)
    : ({ after: 0, upTo: position - 1, order: 'desc' } as const);
