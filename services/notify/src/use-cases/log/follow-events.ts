import { readHead } from '../../db/event-log.ts';
import { cursorInvalid, HAS_READ, placeBehind } from '../../domain/cursor.ts';
import type { EventPlace } from '../../domain/cursor.ts';
import { lostEvents } from '../../domain/event.ts';
import type { EventType, LoggedEvent } from '../../domain/event.ts';
import type { Deps } from '../deps.ts';
import { readOn } from './read-on.ts';

/** An event or heartbeat for a reader that follows a log. `id` is the cursor after it. */
export type StreamedEvent = { kind: 'event'; id: string; event: LoggedEvent } | { kind: 'heartbeat'; id: string };

export interface FollowRequest {
  subject: string;
  /** After the last event that the reader has. */
  from: EventPlace;
  types: readonly EventType[] | undefined;
  /** Aborted when the reader has left, or the stream has to end. */
  signal: AbortSignal;
}

const PAGE = 100;
const HEARTBEAT_MS = 10_000;

/** Position of a reader with this cursor; without one it begins with the next event. */
export async function placeToBegin(
  { db, cursors }: Pick<Deps, 'db' | 'cursors'>,
  subject: string,
  cursor: string | undefined,
): Promise<EventPlace> {
  if (cursor === undefined) return placeBehind(await readHead(db, subject));
  const place = cursors.decode(subject, cursor);
  if (place.order !== 'oldest') throw cursorInvalid();
  return place;
}

/**
 * The events of a subject from a position on, including future ones. Begins with a heartbeat that has the position;
 * `events.missed` replaces later events that expired, or that were lost with the log.
 */
export async function* followEvents(
  { db, cursors, watch }: Pick<Deps, 'db' | 'cursors' | 'watch'>,
  { subject, from, types, signal }: FollowRequest,
): AsyncGenerator<StreamedEvent, void> {
  const following = watch.follow(subject);
  signal.addEventListener('abort', following.wake);
  let place = from;
  const idOf = (position: number) => cursors.encode(subject, placeBehind(position));
  let sentAt = -HEARTBEAT_MS;
  const quietMs = () => performance.now() - sentAt;
  try {
    yield { kind: 'heartbeat', id: cursors.encode(subject, place) };
    sentAt = performance.now();
    while (!signal.aborted) {
      const head = await readHead(db, subject);
      const { position } = place;
      if (position > head) {
        yield { kind: 'event', id: idOf(head), event: lostEvents(subject, { head, position }) };
        sentAt = performance.now();
        place = placeBehind(head);
      }
      const page = await readOn(db, { ...rangeBehind(place, head), subject, types });
      for (const event of page) {
        yield { kind: 'event', id: idOf(event.position), event };
        sentAt = performance.now();
      }
      const hasMore = page.length === PAGE;
      place = placeBehind(hasMore ? (page.at(-1)?.position ?? head) : head);
      if (!hasMore) await following.wait(Math.max(0, HEARTBEAT_MS - quietMs()));
      if (quietMs() >= HEARTBEAT_MS) {
        yield { kind: 'heartbeat', id: cursors.encode(subject, place) };
        sentAt = performance.now();
      }
    }
  } finally {
    signal.removeEventListener('abort', following.wake);
    following.end();
  }
}

const rangeBehind = ({ position, head: mark }: EventPlace, upTo: number) => ({
  after: position,
  upTo,
  order: 'asc' as const,
  limit: PAGE,
  hasRead: mark === HAS_READ,
});
