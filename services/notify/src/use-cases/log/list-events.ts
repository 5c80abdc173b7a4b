import { readHead, readLog } from '../../db/event-log.ts';
import { lostEvents } from '../../domain/event.ts';
import type { LoggedEvent } from '../../domain/event.ts';
import type { EventQuery } from '../../domain/event-query.ts';
import type { Deps } from '../deps.ts';
import { pageOfLog } from './page-of-log.ts';
import type { LogPage } from './page-of-log.ts';
import { readOn } from './read-on.ts';

/**
 * A page of the log of a subject. A reader that resumes after expired events gets `events.missed` first, and so does a
 * reader whose position a restored log had lost, even if the log has grown since.
 */
export async function listEvents(
  { db, cursors }: Pick<Deps, 'db' | 'cursors'>,
  subject: string,
  { types, ...request }: EventQuery,
): Promise<LogPage<LoggedEvent>> {
  return pageOfLog(
    {
      subject,
      cursors,
      defaultOrder: 'oldest',
      head: () => readHead(db, subject),
      read: async ({ isResumed, hasRead, lostUpTo, ...range }) => {
        if (lostUpTo !== undefined) return [lostEvents(subject, { head: range.upTo, position: lostUpTo })];
        return isResumed && range.order === 'asc'
          ? readOn(db, { subject, types, hasRead, ...range })
          : (await readLog(db, { subject, types, ...range })).events;
      },
    },
    request,
  );
}
