import type { Knex } from 'knex';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { crashPoint } from '@vision/shared/crash-point';
import type { EffectTransaction } from '@vision/kafka/progress';
import { findKnownAlarm, insertAlarm, updateAlarm } from '../../db/alarms.ts';
import { appendToLog, lockLog } from '../../db/event-log.ts';
import { isDeleted, isOlderThan } from '../../db/task-states.ts';
import { alarmEvents } from '../../domain/alarm.ts';
import type { NewEvent } from '../../domain/event.ts';
import { correctRule } from '../rules/correct-rule.ts';
import type { Deps } from '../deps.ts';

/**
 * Stores a version of an alarm and logs its events. The newest version wins in any order of arrival; a repeated or late
 * version changes nothing. The lock of the log comes first: a deletion of the task takes it too, so either this reads
 * the mark or the deletion removes the stored alarm.
 */
export async function logAlarm(
  { settings, signals, wakeRelay, wakeWebhooks }: Pick<Deps, 'settings' | 'signals' | 'wakeRelay' | 'wakeWebhooks'>,
  alarm: AlarmSnapshot,
  transaction: EffectTransaction,
): Promise<void> {
  const { logged, isCorrected } = await transaction(async (tx) => {
    await lockLog(tx, alarm.subject);
    return { isCorrected: await correctRule(tx, alarm), logged: await log(tx, settings, alarm) };
  });
  if (isCorrected) {
    wakeRelay();
    signals.ruleCorrected(alarm);
  }
  for (const event of logged) signals.eventLogged(event);
  if (logged.length > 0) wakeWebhooks();
}

/** @returns the events that were added to the log */
async function log(
  tx: Knex.Transaction,
  { eventDays }: Pick<Deps['settings'], 'eventDays'>,
  alarm: AlarmSnapshot,
): Promise<NewEvent[]> {
  if (await isDeleted(tx, alarm.task_id)) return [];
  if (await isOlderThan(tx, alarm.judged_at, eventDays)) return [];
  const known = await findKnownAlarm(tx, alarm.alarm_id);
  if (known && known.version >= alarm.version) return [];
  const events = alarmEvents(alarm, known);
  const positions: (number | undefined)[] = [];
  for (const event of events) positions.push(await appendToLog(tx, event));
  if (known) await updateAlarm(tx, alarm, known);
  else if (positions[0] !== undefined) await insertAlarm(tx, alarm, positions[0]);
  crashPoint('notify.alarm_logged');
  return events.filter((_event, index) => positions[index] !== undefined);
}
