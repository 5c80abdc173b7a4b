import type { TaskSnapshot } from '@vision/shared/contracts/task-events';
import { refund, settle } from '../use-cases/close-reservation.ts';
import type { Deps } from '../use-cases/deps.ts';

const UNITS_PER_TASK = 1;

/**
 * The guarantee behind what tasks says over HTTP. A task that callers can see is settled when it ends, a refunded one
 * with nothing, so its key stays taken; only a create that was undone is refunded. Other states change nothing: a task
 * in `resolving` keeps its unit however long it takes.
 */
export async function applyTask(deps: Pick<Deps, 'db' | 'signals'>, task: TaskSnapshot): Promise<void> {
  const reservation = { id: task.reservation_id, subject: task.subject };
  switch (task.status) {
    case 'refunded':
      if (task.keeps_key === true) await settle(deps, reservation, 0);
      else await refund(deps, reservation);
      break;
    case 'stopped':
    case 'succeeded':
    case 'failed':
      await settle(deps, reservation, UNITS_PER_TASK);
      break;
    case 'submitting':
    case 'resolving':
    case 'running':
    case 'stopping':
      break;
  }
}
