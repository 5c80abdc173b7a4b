import type { Knex } from 'knex';
import { crashPoint } from '@vision/shared/crash-point';
import { appendEvents } from '@vision/kafka/outbox';
import { awaitImages, lockAlarmImages } from '../../db/alarm-images.ts';
import { snapshotsOf } from '../../db/track-snapshots.ts';
import { alarmEvent, alarmImageOf, alarmSnapshotOf, imageTrackOf } from '../../domain/alarm-snapshot.ts';
import type { RuleAlarm } from '../../domain/fold/evaluation.ts';
import type { EvaluatedView } from '../../domain/task-view.ts';

/** Appends the events of alarms that opened and closed, in the transaction that stores the state of their rules. */
export async function announceAlarms(
  tx: Knex.Transaction,
  taskId: string,
  { changes, task, nowMs }: { changes: readonly RuleAlarm[]; task: EvaluatedView; nowMs: number },
): Promise<void> {
  const { subject, clientRef, sceneCode, kind, snapshots } = task;
  const hasImages = snapshots === 'tracks';
  const alarmed = { taskId, subject, clientRef, sceneCode, isLive: kind === 'stream', hasImages };
  const tracks = changes.map(({ alarm }) => imageTrackOf(alarm));
  const images = hasImages ? await imagesOf(tx, taskId, tracks) : new Map<string, number>();
  const alarms = changes.map((change, index) => {
    const trackId = tracks[index];
    const snapshot = alarmImageOf(alarmed, trackId, trackId === undefined ? undefined : images.get(trackId));
    const alarm = alarmSnapshotOf(alarmed, change, { snapshot, evaluatedMs: nowMs });
    return { trackId, alarm };
  });
  await awaitImages(
    tx,
    alarms.flatMap(({ trackId, alarm }) =>
      trackId !== undefined && alarm.snapshot?.state === 'pending' ? [{ trackId, alarm }] : [],
    ),
  );
  await appendEvents(
    tx,
    alarms.map(({ alarm }) => alarmEvent(alarm)),
  );
  if (changes.length > 0) crashPoint('results.alarms_appended');
}

/** Frame times of the images of these tracks; no other image is stored until the end of the transaction. */
async function imagesOf(
  tx: Knex.Transaction,
  taskId: string,
  tracks: readonly (string | undefined)[],
): Promise<Map<string, number>> {
  const asked = [...new Set(tracks.filter((trackId) => trackId !== undefined))];
  if (asked.length === 0) return new Map();
  await lockAlarmImages(tx, taskId);
  const stored = await snapshotsOf(tx, taskId, asked);
  const available = [...stored.values()].filter(({ objectKey }) => objectKey !== null);
  return new Map(available.map(({ trackId, frameTimeMs }) => [trackId, frameTimeMs]));
}
