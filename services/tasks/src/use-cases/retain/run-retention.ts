import { crashPoint } from '@vision/shared/crash-point';
import { standingOf } from '@vision/objects/bucket-owner';
import { removeExpiredDeletions } from '../../db/deleted-tasks.ts';
import { findExpired, removeTasks } from '../../db/retention.ts';
import { sweepAllVideos, sweepVideosInTurn, videosOf } from './sweep-videos.ts';
import type { SweepDeps } from './sweep-videos.ts';

export interface Removed {
  tasks: number;
  videos: number;
  /** Stored videos without a task. */
  orphans: number;
  incomplete_uploads: number;
}

/**
 * Removes expired tasks: reads hide them by age already; first the video, then the row with its moves and key. Every
 * step may be repeated, so the next run completes an interrupted one. All replicas may remove tasks; stored videos
 * without a task are swept by one replica in each `turn`, or all of them now without one. A restored database removes
 * nothing: its rows may be older than its objects.
 */
export async function runRetention(deps: SweepDeps, turn?: { everyMs: number; signal: AbortSignal }): Promise<Removed> {
  const removed: Removed = { tasks: 0, videos: 0, orphans: 0, incomplete_uploads: 0 };
  if ((await standingOf(videosOf(deps))) === 'restored') return removed;
  for (;;) {
    const expired = await findExpired(deps.db, deps.settings.retentionBatch);
    if (expired.length === 0) break;
    const videos = expired.flatMap((task) => task.object_key ?? []);
    await deps.store.remove(videos);
    removed.videos += videos.length;
    crashPoint('tasks.retention.videos-removed');
    removed.tasks += await removeTasks(
      deps.db,
      expired.map((task) => task.task_id),
    );
    crashPoint('tasks.retention.tasks-removed');
  }
  await removeExpiredDeletions(deps.db);
  const swept = await (turn ? sweepVideosInTurn(deps, turn) : sweepAllVideos(deps));
  const all = {
    ...removed,
    orphans: swept?.orphans ?? 0,
    incomplete_uploads: swept?.incompleteUploads ?? 0,
  };
  if (Object.values(all).some((count) => count > 0)) deps.signals.expiredRemoved(all);
  return all;
}
