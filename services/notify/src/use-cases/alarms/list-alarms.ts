import { readAlarms } from '../../db/alarms.ts';
import type { AlarmFilter } from '../../db/alarms.ts';
import { readHead } from '../../db/event-log.ts';
import type { StoredAlarm } from '../../domain/alarm.ts';
import type { Deps } from '../deps.ts';
import { pageOfLog } from '../log/page-of-log.ts';
import type { LogPage, PageRequest } from '../log/page-of-log.ts';

/** A page of the alarms of a subject, in the order of their openings in its log. */
export async function listAlarms(
  { db, alarmCursors }: Pick<Deps, 'db' | 'alarmCursors'>,
  subject: string,
  { filter, ...request }: PageRequest & { filter: AlarmFilter },
): Promise<LogPage<StoredAlarm>> {
  return pageOfLog(
    {
      subject,
      cursors: alarmCursors,
      defaultOrder: 'newest',
      head: () => readHead(db, subject),
      read: (range) => readAlarms(db, { subject, ...range }, filter),
    },
    request,
  );
}
