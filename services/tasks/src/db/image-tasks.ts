import type { Knex } from 'knex';
import type { ImageTask } from '../domain/task.ts';
import { TASKS } from './task-row.ts';

/**
 * Stores the task record of an image call; an older snapshot than the stored one changes no column. A record without
 * `client_ref` may come from a release that does not know it. A deleted call gets no record.
 */
export async function saveImageTask(db: Knex, task: ImageTask): Promise<void> {
  await db.raw(
    `insert into tasks (task_id, subject, kind, request_id, request_key, scene_code, status, version, attempt,
                        lower_bound, default_min_score, reservation_id, client_ref, created_at, updated_at, ended_at,
                        result_expires_at)
     select :taskId, :subject, 'image', :requestId, :requestKey, :sceneCode, :status, :version, 1,
            0, 0, :reservationId, :clientRef, :createdAt, :updatedAt, :updatedAt, :resultExpiresAt
      where not exists (select from deleted_tasks where task_id = :taskId)
     on conflict (task_id) do update
       set status = excluded.status, version = excluded.version, updated_at = excluded.updated_at,
           client_ref = excluded.client_ref
     where tasks.kind = 'image' and (tasks.version < excluded.version or tasks.client_ref is null)`,
    {
      taskId: task.taskId,
      subject: task.subject,
      requestId: task.requestId,
      requestKey: task.requestId.toLowerCase(),
      sceneCode: task.sceneCode,
      status: task.status,
      version: task.version,
      reservationId: task.reservationId,
      clientRef: task.clientRef,
      createdAt: task.createdAt,
      updatedAt: task.updatedAt,
      resultExpiresAt: task.resultExpiresAt,
    },
  );
}

/** Removes the record of an image call that was rolled back. */
export async function removeImageTask(db: Knex, taskId: string): Promise<void> {
  await db(TASKS).where({ task_id: taskId, kind: 'image' }).delete();
}
