import type { Knex } from 'knex';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { alarmData } from '../domain/alarm.ts';
import type { AlarmState, KnownAlarm, Review, StoredAlarm, Verdict } from '../domain/alarm.ts';

const SHOWN = ['alarm_id', 'position', 'data', 'verdict', 'note', 'reviewed_at'];

/** The stored version of an alarm; undefined for a new alarm. The lock of its log protects it. */
export async function findKnownAlarm(tx: Knex.Transaction, alarmId: string): Promise<KnownAlarm | undefined> {
  return tx('alarms').where({ alarm_id: alarmId }).first<KnownAlarm | undefined>('version', 'state', 'created_at');
}

/** Stores an alarm whose opening has this number in the log. */
export async function insertAlarm(tx: Knex.Transaction, alarm: AlarmSnapshot, position: number): Promise<void> {
  const { alarm_id, subject, rule_id, task_id, client_ref = null, opened_ms, judged_at } = alarm;
  await tx('alarms').insert({
    alarm_id,
    subject,
    position,
    rule_id,
    task_id,
    client_ref,
    opened_ms,
    created_at: judged_at,
    ...versionOf(alarm, undefined),
  });
}

/** Stores a newer version of an alarm. The verdict of its subject stays. */
export async function updateAlarm(tx: Knex.Transaction, alarm: AlarmSnapshot, known: KnownAlarm): Promise<void> {
  await tx('alarms').where({ alarm_id: alarm.alarm_id }).update(versionOf(alarm, known));
}

const versionOf = (alarm: AlarmSnapshot, known: KnownAlarm | undefined) => ({
  version: alarm.version,
  state: alarm.state,
  data: alarmData(alarm, known),
  updated_at: alarm.judged_at,
});

/** An alarm of this subject. */
export async function findAlarm(db: Knex, subject: string, alarmId: string): Promise<StoredAlarm | undefined> {
  return db('alarms')
    .where({ subject, alarm_id: alarmId })
    .first<StoredAlarm | undefined>(...SHOWN);
}

/** Stores the verdict of the subject about its alarm. The time stays when the verdict is repeated. */
export async function saveReview(
  db: Knex,
  { subject, alarmId, verdict, note }: Review & { subject: string; alarmId: string },
): Promise<StoredAlarm | undefined> {
  const { rows } = await db.raw<{ rows: StoredAlarm[] }>(
    `update alarms
        set reviewed_at = case when (verdict, note) is not distinct from (:verdict::text, :note::text)
                               then reviewed_at else vision_now() end,
            verdict = :verdict, note = :note
      where subject = :subject and alarm_id = :alarmId
     returning ${SHOWN.join(', ')}`,
    { subject, alarmId, verdict, note },
  );
  return rows[0];
}

export interface AlarmFilter {
  taskId: string | undefined;
  clientRef: string | undefined;
  ruleId: string | undefined;
  state: AlarmState | undefined;
  verdict: Verdict | undefined;
  /** Earliest `opened_ms`, inclusive. */
  fromMs: number | undefined;
  /** Latest `opened_ms`, exclusive. */
  toMs: number | undefined;
}

export interface AlarmRange {
  subject: string;
  after: number;
  upTo: number;
  order: 'asc' | 'desc';
  limit: number;
}

/** Alarms whose openings are in a range of the log, in its order. */
export async function readAlarms(
  db: Knex,
  { subject, after, upTo, order, limit }: AlarmRange,
  { taskId, clientRef, ruleId, state, verdict, fromMs, toMs }: AlarmFilter,
): Promise<StoredAlarm[]> {
  const equal = { subject, task_id: taskId, client_ref: clientRef, rule_id: ruleId, state, verdict };
  const given = Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined));
  const query = db('alarms').where(given).where('position', '>', after).where('position', '<=', upTo);
  if (fromMs !== undefined) void query.where('opened_ms', '>=', fromMs);
  if (toMs !== undefined) void query.where('opened_ms', '<', toMs);
  return query
    .orderBy('position', order)
    .limit(limit)
    .select<StoredAlarm[]>(...SHOWN);
}

/** Verdicts about the alarms of a rule that were raised in the last `days` days. */
export async function countVerdicts(
  db: Knex,
  { subject, ruleId, days }: { subject: string; ruleId: string; days: number },
): Promise<Record<Verdict, number>> {
  const { rows } = await db.raw<{ rows: { verdict: Verdict; count: number }[] }>(
    `select verdict, count(*)::int as count from alarms
      where subject = :subject and rule_id = :ruleId and created_at > vision_now() - make_interval(days => :days)
      group by verdict`,
    { subject, ruleId, days },
  );
  const counts = { none: 0, confirmed: 0, false_alarm: 0 };
  for (const { verdict, count } of rows) counts[verdict] = count;
  return counts;
}

/** Removes the alarms of a task. @returns their number */
export async function removeAlarmsOf(db: Knex, taskId: string, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    'delete from alarms where alarm_id in (select alarm_id from alarms where task_id = :taskId limit :limit)',
    { taskId, limit },
  );
  return result.rowCount;
}

/**
 * Removes up to `limit` alarms that last changed more than `days` ago. An open alarm stays while its task has not
 * ended.
 * @returns their number
 */
export async function removeOldAlarms(db: Knex, days: number, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from alarms where alarm_id in (
       select alarm_id from alarms as a
        where updated_at < vision_now() - make_interval(days => :days)
          and (state = 'closed' or not exists (
                select from task_states as t where t.task_id = a.task_id and t.deleted_at is null
                   and t.status not in ('succeeded', 'stopped', 'failed', 'refunded')))
        order by updated_at limit :limit for update skip locked)`,
    { days, limit },
  );
  return result.rowCount;
}
