import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { crashPoint } from '@vision/shared/crash-point';
import type { EffectTransaction } from '@vision/kafka/progress';
import { findKnownAlarm, insertAlarm, updateAlarm } from '../db/alarms.ts';
import { appendToLog, lockLog } from '../db/event-log.ts';
import { isDeleted, isOlderThan } from '../db/task-states.ts';
import { alarmEvents } from '../domain/alarm.ts';
import type { Deps } from './deps.ts';

/**
 * Stores a version of an alarm and logs what it says. The newest version wins in any order of arrival; a version
 * that comes again, or late, changes nothing. The lock of the log comes first: a deletion of the task takes it too, so
 * either the mark is seen here or the deletion removes what is stored here.
 */
export async function logAlarm(
  { settings, signals, wakeWebhooks }: Pick<Deps, 'settings' | 'signals' | 'wakeWebhooks'>,
  alarm: AlarmSnapshot,
  transaction: EffectTransaction,
): Promise<void> {
  const logged = await transaction(async (tx) => {
    await lockLog(tx, alarm.subject);
    if (await isDeleted(tx, alarm.task_id)) return [];
    if (await isOlderThan(tx, alarm.judged_at, settings.eventDays)) return [];
    const known = await findKnownAlarm(tx, alarm.alarm_id);
    if (known && known.version >= alarm.version) return [];
    const events = alarmEvents(alarm, known);
    const positions: (number | undefined)[] = [];
    for (const event of events) positions.push(await appendToLog(tx, event));
    if (known) await updateAlarm(tx, alarm, known);
    else if (positions[0] !== undefined) await insertAlarm(tx, alarm, positions[0]);
    crashPoint('notify.alarm_logged');
    return events.filter((_event, index) => positions[index] !== undefined);
  });
  for (const event of logged) signals.eventLogged(event);
  if (logged.length > 0) wakeWebhooks();
}
