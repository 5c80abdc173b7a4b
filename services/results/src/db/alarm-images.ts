import type { Knex } from 'knex';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';

/**
 * Lets only one transaction at a time announce alarms of a task or store images of its tracks. Without it, an alarm
 * announced while its image is stored would never get the image.
 */
export async function lockAlarmImages(tx: Knex, taskId: string): Promise<void> {
  await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`images of alarms of ${taskId}`]);
}

/** Notes an alarm as it is announced now, until the image of this track is stored. */
export async function awaitImage(tx: Knex.Transaction, trackId: string, alarm: AlarmSnapshot): Promise<void> {
  await tx.raw(
    `insert into alarm_images (task_id, track_id, alarm_id, alarm) values (:taskId, :trackId, :alarmId, :alarm)
     on conflict (task_id, track_id, alarm_id) do update set alarm = excluded.alarm, announced_at = vision_now()`,
    { taskId: alarm.task_id, trackId, alarmId: alarm.alarm_id, alarm: JSON.stringify(alarm) },
  );
}

/** Takes the alarms that wait for the image of a track, and the time. */
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

/** Forgets alarms announced more than a day ago whose images did not come, `limit` at most; returns how many. */
export async function forgetAwaiting(db: Knex, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from alarm_images where (task_id, track_id, alarm_id) in (
       select task_id, track_id, alarm_id from alarm_images where announced_at < vision_now() - interval '1 day'
        order by announced_at limit :limit)`,
    { limit },
  );
  return rowCount;
}
