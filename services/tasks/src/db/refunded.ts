import type { Knex } from 'knex';
import { TASKS } from './task-row.ts';

/** The video of a refunded task. */
export interface RefundedVideo {
  taskId: string;
  objectKey: string;
}

/** Refunded tasks that still have a video, except recently refunded ones, whose process removes it. */
export async function listRefundedVideos(db: Knex, limit: number): Promise<RefundedVideo[]> {
  const rows = await db(TASKS)
    .where({ status: 'refunded' })
    .whereNotNull('object_key')
    .where('updated_at', '<', db.raw("vision_now() - interval '2 seconds'"))
    .limit(limit)
    .select<{ task_id: string; object_key: string }[]>('task_id', 'object_key');
  return rows.map((row) => ({ taskId: row.task_id, objectKey: row.object_key }));
}

/** Records that the video of the task is removed. */
export async function forgetObject(db: Knex, taskId: string): Promise<void> {
  await db(TASKS).where({ task_id: taskId }).update({ object_key: null });
}
