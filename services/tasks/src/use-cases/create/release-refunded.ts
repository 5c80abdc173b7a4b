import { atMost } from '@vision/shared/async/at-most';
import { forgetObject, listRefundedVideos } from '../../db/refunded.ts';
import type { RefundedVideo } from '../../db/refunded.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps, RollbackDeps } from '../deps.ts';

/** Maximum wait of the caller for the store. */
const REMOVAL_WAIT_MS = 2_000;

/**
 * Releases the unit and the video of a refunded task at once, so that the unit is free before the next request of the
 * caller. On failure, the event refunds the unit and the recovery removes the video. The ledger records an accepted
 * request without a charge: a settlement, not a refund, so that the task keeps its key.
 */
export async function releaseRefunded(
  deps: RollbackDeps,
  { taskId, subject, reservationId, objectKey }: Task,
): Promise<void> {
  const leave = (error: unknown) => {
    deps.logger.warn(
      { err: error, task_id: taskId },
      'unit or video of a refunded task not released yet; the event and the recovery do it',
    );
  };
  const settling = deps.quota.settle(reservationId, subject, 0).catch(leave);
  if (objectKey !== null) await atMost(REMOVAL_WAIT_MS, removeVideo(deps, { taskId, objectKey }).catch(leave));
  await settling;
}

/** Removes the videos of refunded tasks whose process died in between. @returns their number. */
export async function releaseVideos(deps: Pick<Deps, 'db' | 'loops' | 'store'>): Promise<number> {
  const loop = deps.loops.of('recovery');
  let released = 0;
  for (const video of await listRefundedVideos(deps.db, 50))
    await loop.attempt(video.taskId, async () => {
      await removeVideo(deps, video);
      released += 1;
    });
  return released;
}

async function removeVideo(
  { db, store }: Pick<Deps, 'db' | 'store'>,
  { taskId, objectKey }: RefundedVideo,
): Promise<void> {
  await store.remove([objectKey]);
  await forgetObject(db, taskId);
}
