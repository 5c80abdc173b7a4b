import { fail } from '@vision/contracts/errors';
import { tracksOfIds } from '../db/tracks.ts';
import { isTrackId } from '../domain/fold/tracks.ts';
import { findTask } from './find-task.ts';
import { nowOf, showTracks, shownOf } from './list-tracks.ts';
import type { ShownTrack, TrackDeps } from './list-tracks.ts';
import { readFold } from './read-fold.ts';

/** One track of a task. @throws AppError not found (`track_not_found`) */
export async function getTrack(
  deps: Omit<TrackDeps, 'trackCursors'>,
  { subject, taskId, trackId }: { subject: string; taskId: string; trackId: string },
): Promise<ShownTrack> {
  const task = await findTask(deps, subject, taskId);
  if (!isTrackId(trackId)) throw trackNotFound();
  return readFold(deps, taskId, async (view, db) => {
    const known = view.tracks.get(trackId);
    const [found] = known ? [known] : await tracksOfIds(db, { day: view.day, taskId }, [trackId]);
    if (!found) throw trackNotFound();
    const now = nowOf(view, task.is_complete || task.is_long_over);
    const [shown] = await showTracks(db, { ...shownOf(deps, task), taskId, view, now, tracks: [found] });
    if (!shown) throw trackNotFound();
    return shown;
  });
}

export const trackNotFound = () => fail.notFound('This task has no such track.', 'track_not_found');
