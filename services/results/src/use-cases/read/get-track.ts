import type { Knex } from 'knex';
import { fail } from '@vision/contracts/errors';
import { tracksOfIds } from '../../db/tracks.ts';
import { isTrackId } from '../../domain/fold/tracks.ts';
import { findFolded } from './find-task.ts';
import { nowOf, showTracks, shownOf } from './list-tracks.ts';
import type { ShownTrack, TrackDeps } from './list-tracks.ts';
import { readFold } from './read-fold.ts';
import type { FoldView } from './read-fold.ts';

/** One track of a task. @throws AppError not found (`track_not_found`) */
export async function getTrack(
  deps: Omit<TrackDeps, 'trackCursors'>,
  { subject, taskId, trackId }: { subject: string; taskId: string; trackId: string },
): Promise<ShownTrack> {
  const { task, fold } = await findFolded(deps, subject, taskId);
  if (!isTrackId(trackId)) throw trackNotFound();
  const show = async (view: FoldView, db: Knex) => {
    const known = view.tracks.get(trackId);
    const [found] = known ? [known] : await tracksOfIds(db, { day: view.day, taskId }, [trackId]);
    if (!found) throw trackNotFound();
    const now = nowOf(view, task.is_complete || task.is_long_over);
    const [shown] = await showTracks(db, { ...shownOf(deps, task), taskId, view, now, tracks: [found] });
    if (!shown) throw trackNotFound();
    return shown;
  };
  return readFold(deps, taskId, show, { found: fold });
}

export const trackNotFound = () => fail.notFound('This task has no such track.', 'track_not_found');
