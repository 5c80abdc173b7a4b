import { asAppError, fail } from '@vision/contracts/errors';
import { TRACK_SNAPSHOT_MAX_BYTES } from '@vision/contracts/track-snapshots';
import { snapshotsOf } from '../../db/track-snapshots.ts';
import { isTrackId } from '../../domain/fold/tracks.ts';
import type { StoredSnapshot } from '../../domain/track-snapshot.ts';
import { findTask } from './find-task.ts';
import { getTrack, trackNotFound } from './get-track.ts';
import type { TrackDeps } from './list-tracks.ts';

export type SnapshotDeps = Omit<TrackDeps, 'trackCursors'>;

type Asked = { subject: string; taskId: string; trackId: string };

/**
 * The stored image of a track.
 * @throws AppError not found (`track_not_found`, `snapshot_not_yet`, `snapshots_off`, `snapshot_none`)
 */
export async function findTrackSnapshot(
  deps: SnapshotDeps,
  { subject, taskId, trackId }: Asked,
): Promise<StoredSnapshot> {
  await findTask(deps, subject, taskId);
  if (!isTrackId(trackId)) throw trackNotFound();
  const stored = (await snapshotsOf(deps.db, taskId, [trackId])).get(trackId);
  if (stored?.objectKey) return stored;
  const { snapshot } = await getTrack(deps, { subject, taskId, trackId });
  if (snapshot.state === 'pending') throw noSnapshot('snapshot_not_yet');
  throw noSnapshot(
    snapshot.state === 'none' && snapshot.reason === 'snapshots_off' ? 'snapshots_off' : 'snapshot_none',
  );
}

/** Reads its bytes. @throws AppError not found (`snapshot_none`); OP-SYS-UNAVAILABLE */
export async function readTrackSnapshot(
  { store }: Pick<SnapshotDeps, 'store'>,
  { objectKey }: StoredSnapshot,
): Promise<Buffer> {
  const jpeg = await store.image(objectKey ?? '', TRACK_SNAPSHOT_MAX_BYTES).catch((error: unknown) => {
    if (asAppError(error)?.kind === 'not_found') throw noSnapshot('snapshot_none');
    throw error;
  });
  // An object that another backend stored there is shown only if it is a JPEG image.
  if (!jpeg.subarray(0, JPEG.length).equals(JPEG)) throw noSnapshot('snapshot_none');
  return jpeg;
}

const JPEG = Buffer.from('ffd8ff', 'hex');

const sentences = {
  snapshots_off: 'The task was created without snapshots.',
  snapshot_not_yet: 'No image of the track is stored yet; retry in some seconds.',
  snapshot_none: 'There is no image of the track; `snapshot.reason` of the track says why.',
};

const noSnapshot = (reason: keyof typeof sentences) => fail.notFound(sentences[reason], reason);

/** Errors of a request for the image of a track. */
export const trackSnapshotRefusals = () => (Object.keys(sentences) as (keyof typeof sentences)[]).map(noSnapshot);
