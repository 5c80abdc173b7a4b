import type { Knex } from 'knex';
import { TASKS } from './task-row.ts';

/** The video of a refunded task, which is no longer needed. */
export interface RefundedVideo {
  taskId: string;
  objectKey: string;
}

/**
 * Refunded tasks that still have a video, except those refunded a moment ago: the process that refunded
 * them removes it.
 */
export async function listRefundedVideos(db: Knex, limit: number): Promise<RefundedVideo[]> {
  const rows = await db(TASKS)
    .where({ status: 'refunded' })
    .whereNotNull('object_key')
    .where('updated_at', '<', db.raw("vision_now() - interval '2 seconds'"))
    .limit(limit)
    .select<{ task_id: string; object_key: string }[]>('task_id', 'object_key');
  return rows.map((row) => ({ taskId: row.task_id, objectKey: row.object_key }));
}

/** The video of the task is gone. */
export async function forgetObject(db: Knex, taskId: string): Promise<void> {
  await db(TASKS).where({ task_id: taskId }).update({ object_key: null });
}
