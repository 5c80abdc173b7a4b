import type { Task } from '../domain/task.ts';
import { renewCreate } from '../db/idempotency-keys.ts';
import type { Deps } from './deps.ts';

/**
 * Keeps the leases of a create alive while its request lives in this process. Losing them needs no signal: every write of the
 * create is fenced by the attempt number.
 */
export function holdLease(
  { db, limits, logger }: Pick<Deps, 'db' | 'limits' | 'logger'>,
  task: Pick<Task, 'taskId' | 'attempt'>,
): () => void {
  const timer = setInterval(() => {
    renewCreate(db, { taskId: task.taskId, attempt: task.attempt, leaseMs: limits.leaseMs }).catch((error: unknown) => {
      logger.warn({ err: error, task_id: task.taskId }, 'the lease of a create could not be renewed');
    });
  }, limits.leaseMs / 3);
  return () => clearInterval(timer);
}
