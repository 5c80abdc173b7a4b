import type { Knex } from 'knex';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';

/**
 * Lets only one transaction at a time announce alarms of a task or store images of its tracks. Without it, an alarm
 * announced while its image is stored would never get the image.
 */
export async function lockAlarmImages(tx: Knex, taskId: string): Promise<void> {
  await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`images of alarms of ${taskId}`]);
}

/** An alarm, and the track whose image it waits for. */
interface AwaitingAlarm {
  trackId: string;
  alarm: AlarmSnapshot;
}

/** Records alarms as announced until the images of their tracks are stored; the newest version of each alarm. */
export async function awaitImages(tx: Knex.Transaction, alarms: readonly AwaitingAlarm[]): Promise<void> {
  if (alarms.length === 0) return;
  const last = new Map(alarms.map((one) => [`${one.alarm.alarm_id}/${one.trackId}`, one]));
  const rows = [...last.values()].map(({ trackId, alarm }) => ({
    task_id: alarm.task_id,
    track_id: trackId,
    alarm_id: alarm.alarm_id,
    alarm,
  }));
  await tx.raw(
    `insert into alarm_images (task_id, track_id, alarm_id, alarm)
     select task_id, track_id, alarm_id, alarm
       from json_to_recordset(:rows::json) as n (task_id uuid, track_id text, alarm_id uuid, alarm json)
     on conflict (task_id, track_id, alarm_id) do update set alarm = excluded.alarm, announced_at = vision_now()`,
    { rows: JSON.stringify(rows) },
  );
}

/** Removes and returns the alarms that wait for the image of a track, with the current time. */
export async function takeAwaiting(
  tx: Knex,
  { taskId, trackId }: { taskId: string; trackId: string },
): Promise<{ alarm: AlarmSnapshot; nowMs: number }[]> {
  const { rows } = await tx.raw<{ rows: { alarm: AlarmSnapshot; nowMs: number }[] }>(
    `delete from alarm_images where task_id = :taskId and track_id = :trackId
     returning alarm, (extract(epoch from now()) * 1000)::bigint as "nowMs"`,
    { taskId, trackId },
  );
  return rows;
}

/** Removes alarms announced more than a day ago whose images did not arrive, `limit` at most; returns their number. */
export async function forgetAwaiting(db: Knex, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from alarm_images where (task_id, track_id, alarm_id) in (
       select task_id, track_id, alarm_id from alarm_images where announced_at < vision_now() - interval '1 day'
        order by announced_at limit :limit)`,
    { limit },
  );
  return rowCount;
}
