import type { Task } from '../../domain/task.ts';
import { renewCreate } from '../../db/idempotency-keys.ts';
import type { Deps } from '../deps.ts';

/**
 * Renews the leases of a create request until they are released. Losing them needs no signal: the attempt number fences
 * every write of the request.
 */
export function renewLeases(
  { db, settings, logger }: Pick<Deps, 'db' | 'settings' | 'logger'>,
  { taskId, attempt }: Pick<Task, 'taskId' | 'attempt'>,
): { release: () => void } {
  const timer = setInterval(() => {
    renewCreate(db, { taskId, attempt, leaseMs: settings.leaseMs }).catch((error: unknown) => {
      logger.warn({ err: error, task_id: taskId }, 'could not renew the lease of a create request');
    });
  }, settings.leaseMs / 3);
  return { release: () => clearInterval(timer) };
}
