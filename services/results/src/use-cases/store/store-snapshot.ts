import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import type { SnapshotTakenData } from '@vision/contracts/job-events';
import { ownerOfKey } from '@vision/contracts/object-keys';
import { placeOfTrackSnapshot, TRACK_SNAPSHOT_PREFIX, TRACK_SNAPSHOTS } from '@vision/contracts/track-snapshots';
import { appendEvents } from '@vision/kafka/outbox';
import { lockAlarmImages, takeAwaiting } from '../../db/alarm-images.ts';
import { isDeletedForNow } from '../../db/deleted-tasks.ts';
import { alarmEvent, alarmImageOf, withImage } from '../../domain/alarm-snapshot.ts';
import { listDeleted, listUnused, lockSnapshot, noteWriter, saveSnapshot } from '../../db/track-snapshots.ts';

/**
 * Stores the image of a track. The newest one counts; the object of any other (the previous one, a late one, one of a
 * deleted task) is listed as unused, and the sweep removes it. A repeat changes nothing. Alarms of this track that wait
 * for an image are announced again. Returns whether any did.
 * @throws Error for a key that does not name the task and its track: another object must not be shown, nor removed.
 */
export async function storeSnapshot({ db }: { db: Knex.Transaction }, data: SnapshotTakenData): Promise<boolean> {
  const taskId = data.job_id.toLowerCase();
  const { track_id: trackId, object_key: objectKey, attempt, n } = data;
  const day = dayOfTask(taskId);
  const place = placeOfTrackSnapshot(objectKey);
  if (day === undefined || place?.taskId !== taskId || place.trackId !== trackId)
    throw new Error('the object of an image does not belong to its track');
  const writer = ownerOfKey(TRACK_SNAPSHOT_PREFIX, objectKey);
  if (writer !== undefined) await noteWriter(db, TRACK_SNAPSHOTS, writer);
  // First, as in a fold that announces an alarm.
  await lockAlarmImages(db, taskId);
  if (await isDeletedForNow(db, taskId)) {
    await listDeleted(db, { objectKey, day });
    return false;
  }
  const known = await lockSnapshot(db, { taskId, trackId });
  if (known && (known.attempt > attempt || (known.attempt === attempt && known.n >= n))) {
    if (known.objectKey !== objectKey) await listUnused(db, { objectKey, day });
    return false;
  }
  const { seq, frame_time_ms: frameTimeMs, width, height, bytes } = data;
  await saveSnapshot(db, { day, taskId }, { trackId, attempt, n, seq, frameTimeMs, width, height, bytes, objectKey });
  if (known?.objectKey) await listUnused(db, { objectKey: known.objectKey, day });
  const snapshot = alarmImageOf({ taskId, hasImages: true }, trackId, frameTimeMs);
  // Alarms that are announced while the track has an image do not wait for one.
  const waiting = known?.objectKey ? [] : await takeAwaiting(db, { taskId, trackId });
  await appendEvents(
    db,
    waiting.map(({ alarm, nowMs }) => alarmEvent(withImage(alarm, snapshot, nowMs))),
  );
  return waiting.length > 0;
}
