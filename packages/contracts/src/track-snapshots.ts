import { dayOfTask } from './ids.ts';
import { withoutOwner } from './object-keys.ts';

/** Names snapshots of tracks among the objects of the bucket. */
export const TRACK_SNAPSHOTS = 'track-snapshots';

/** Below this prefix of the object store lies every snapshot of a track, and nothing else. */
export const TRACK_SNAPSHOT_PREFIX = `${TRACK_SNAPSHOTS}/`;

/** Longest side of a snapshot of a track, in pixels. */
export const TRACK_SNAPSHOT_SIDE = 640;

/** A larger image is stored by no worker. */
export const TRACK_SNAPSHOT_MAX_BYTES = 1_000_000;

/** What a snapshot shows. */
export interface TrackSnapshotPlace {
  taskId: string;
  trackId: string;
}

/**
 * Key of a new snapshot below the prefix of a database; `name` makes it another one than that of any other snapshot.
 * Undefined for an id that is no task's.
 */
export function trackSnapshotKey(
  ownPrefix: string,
  { taskId, trackId }: TrackSnapshotPlace,
  name: string,
): string | undefined {
  const day = dayOfTask(taskId);
  return day === undefined ? undefined : `${ownPrefix}${day}/${taskId}/${trackId}-${name}.jpg`;
}

const REST = /^(\d{4}-\d{2}-\d{2})\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/([\w.-]{1,64})-(\w{1,32})\.jpg$/;

/** What the key of a snapshot names; undefined for a key of something else. */
export function placeOfTrackSnapshot(objectKey: string): TrackSnapshotPlace | undefined {
  const rest = withoutOwner(TRACK_SNAPSHOT_PREFIX, objectKey) ?? '';
  const [, day, taskId, trackId] = REST.exec(rest) ?? [];
  if (taskId === undefined || trackId === undefined || day !== dayOfTask(taskId)) return undefined;
  return { taskId, trackId };
}
