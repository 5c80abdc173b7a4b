import { fail } from '@vision/contracts/errors';
import { findAlarm } from '../../db/alarms.ts';
import type { StoredAlarm } from '../../domain/alarm.ts';
import type { Deps } from '../deps.ts';

/** Names an alarm of a subject. */
export interface AlarmName {
  subject: string;
  alarmId: string;
}

export const alarmNotFound = () =>
  fail.notFound('The alarm does not exist, has expired, or belongs to another subject.', 'alarm_not_found');

/** @throws AppError not_found. */
export async function getAlarm({ db }: Pick<Deps, 'db'>, { subject, alarmId }: AlarmName): Promise<StoredAlarm> {
  const alarm = await findAlarm(db, subject, alarmId);
  if (!alarm) throw alarmNotFound();
  return alarm;
}
