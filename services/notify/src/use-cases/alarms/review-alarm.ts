import { saveReview } from '../../db/alarms.ts';
import type { Review, StoredAlarm } from '../../domain/alarm.ts';
import type { Deps } from '../deps.ts';
import { alarmNotFound } from './get-alarm.ts';
import type { AlarmName } from './get-alarm.ts';

/** Stores the verdict of the subject about its alarm. A repeat changes nothing. @throws AppError not_found. */
export async function reviewAlarm({ db }: Pick<Deps, 'db'>, review: AlarmName & Review): Promise<StoredAlarm> {
  const alarm = await saveReview(db, review);
  if (!alarm) throw alarmNotFound();
  return alarm;
}
