import { randomUUID } from 'node:crypto';
import type { World } from './system.ts';

/** Inserts a create request whose process died during its rollback. */
export async function insertDead(
  world: World,
  subject: string,
  kind: 'stream' | 'upload',
  index: number,
): Promise<void> {
  const now = new Date();
  const taskId = randomUUID();
  await world.database.db('tasks').insert({
    task_id: taskId,
    subject,
    kind,
    request_id: randomUUID(),
    request_key: randomUUID(),
    scene_code: 'ship',
    status: 'undoing',
    version: 1,
    attempt: 1,
    lower_bound: 0,
    default_min_score: 0,
    reservation_id: `${taskId}/1`,
    object_key: kind === 'upload' ? `videos/${taskId}` : null,
    admitted_at: now,
    lease_until: new Date(index),
    created_at: now,
    updated_at: now,
    result_expires_at: new Date(now.getTime() + 86_400_000),
  });
}
