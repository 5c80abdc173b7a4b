import { readHead } from '../db/event-log.ts';
import { cursorInvalid } from '../domain/cursor.ts';
import { lostEvents } from '../domain/event.ts';
import type { EventType, LoggedEvent } from '../domain/event.ts';
import type { Deps } from './deps.ts';
import { readOn } from './read-on.ts';

/** What a reader that follows a log is sent. `id` is the cursor behind it. */
export type StreamedEvent = { kind: 'event'; id: string; event: LoggedEvent } | { kind: 'heartbeat'; id: string };

export interface FollowRequest {
  subject: string;
  /** The last event that the reader has. */
  from: number;
  types: readonly EventType[] | undefined;
  /** Aborted when the reader has left, or has to. */
  signal: AbortSignal;
}

const PAGE = 100;
const HEARTBEAT_MS = 10_000;

/** The last event that a reader with this cursor has; without one it begins with the next event. */
export async function placeToBegin(
  { db, cursors }: Pick<Deps, 'db' | 'cursors'>,
  subject: string,
  cursor: string | undefined,
): Promise<number> {
  if (cursor === undefined) return readHead(db, subject);
  const { order, position } = cursors.decode(subject, cursor);
  if (order !== 'oldest') throw cursorInvalid();
  return position;
}

/**
 * The events of a subject from a place on, including later ones. Begins with the place, as a heartbeat; `events.missed`
 * stands for events behind it that expired, or that were lost with the log.
 */
export async function* followEvents(
  { db, cursors, watch }: Pick<Deps, 'db' | 'cursors' | 'watch'>,
  { subject, from, types, signal }: FollowRequest,
): AsyncGenerator<StreamedEvent, void> {
  const idOf = (position: number) => cursors.encode(subject, { order: 'oldest', position, head: position });
  const following = watch.follow(subject);
  signal.addEventListener('abort', following.wake);
  let position = from;
  let sentAt = -HEARTBEAT_MS;
  const quietMs = () => performance.now() - sentAt;
  try {
    yield { kind: 'heartbeat', id: idOf(position) };
    sentAt = performance.now();
    while (!signal.aborted) {
      const head = await readHead(db, subject);
      if (position > head) {
        yield { kind: 'event', id: idOf(head), event: lostEvents(subject, { head, position }) };
        sentAt = performance.now();
        position = head;
      }
      const range = { subject, types, after: position, upTo: head, order: 'asc' as const, limit: PAGE };
      const page = await readOn(db, range);
      for (const event of page) {
        yield { kind: 'event', id: idOf(event.position), event };
        sentAt = performance.now();
      }
      const hasMore = page.length === PAGE;
      position = hasMore ? (page.at(-1)?.position ?? head) : head;
      if (!hasMore) await following.wait(Math.max(0, HEARTBEAT_MS - quietMs()));
      if (quietMs() >= HEARTBEAT_MS) {
        yield { kind: 'heartbeat', id: idOf(position) };
        sentAt = performance.now();
      }
    }
  } finally {
    signal.removeEventListener('abort', following.wake);
    following.end();
  }
}
