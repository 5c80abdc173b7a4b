import { atMost } from '@vision/shared/async/at-most';
import { forgetObject, listRefundedWithObject } from '../db/refunded.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

type ReleaseDeps = Pick<Deps, 'db' | 'quota' | 'objects' | 'logger'>;

/** A store that hangs is not waited for by the caller. */
const REMOVAL_WAIT_MS = 2_000;

/**
 * Gives back at once what a refunded task held, so that the unit is free before the caller's next request. Should that fail,
 * the event gives the unit back and the recovery removes the video. To the ledger it is a request that was accepted and
 * charges nothing: a settlement, not a refund, so that the task keeps its key.
 */
export async function releaseRefunded(deps: ReleaseDeps, task: Task): Promise<void> {
  const left = (error: unknown) => {
    deps.logger.warn({ err: error, task_id: task.taskId }, 'left to the event and the recovery');
  };
  await Promise.all([
    deps.quota.settle(task.reservationId, task.subject, 0).catch(left),
    atMost(REMOVAL_WAIT_MS, removeVideo(deps, { task_id: task.taskId, object_key: task.objectKey }).catch(left)),
  ]);
}

/** Removes the videos of refunded tasks whose process died in between. @returns how many. */
export async function releaseVideos(deps: Pick<Deps, 'db' | 'objects'>): Promise<number> {
  const rows = await listRefundedWithObject(deps.db, 50);
  for (const row of rows) await removeVideo(deps, row);
  return rows.length;
}

async function removeVideo(
  { db, objects }: Pick<Deps, 'db' | 'objects'>,
  row: { task_id: string; object_key: string | null },
): Promise<void> {
  if (row.object_key === null) return;
  await objects.remove([row.object_key]);
  await forgetObject(db, row.task_id);
}
