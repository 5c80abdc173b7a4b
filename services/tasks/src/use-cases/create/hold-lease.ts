import type { Task } from '../../domain/task.ts';
import { renewCreate } from '../../db/idempotency-keys.ts';
import type { Deps } from '../deps.ts';

/**
 * Keeps the leases of a create alive while `work` runs in this process. Losing them needs no signal: every write of the
 * create is fenced by the attempt number.
 */
export async function holdingLease<T>(
  { db, settings, logger }: Pick<Deps, 'db' | 'settings' | 'logger'>,
  { taskId, attempt }: Pick<Task, 'taskId' | 'attempt'>,
  work: () => Promise<T>,
): Promise<T> {
  const renew = () =>
    renewCreate(db, { taskId, attempt, leaseMs: settings.leaseMs }).catch((error: unknown) => {
      logger.warn({ err: error, task_id: taskId }, 'the lease of a create could not be renewed');
    });
  const timer = setInterval(() => void renew(), settings.leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
