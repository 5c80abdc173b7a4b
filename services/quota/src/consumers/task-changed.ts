import type { TaskSnapshot } from '@vision/shared/contracts/task-events';
import { closeOnce } from '../use-cases/close-reservation.ts';
import type { LedgerDeps } from '../use-cases/reserve.ts';

const UNITS_PER_TASK = 1;

/**
 * The guarantee behind what tasks says over HTTP. A task that callers can see is settled when it ends, a refunded one
 * with nothing, so its key stays taken; only a create that was undone is refunded. Other states change nothing: a task
 * in `resolving` keeps its unit however long it takes.
 */
export async function applyTask(deps: LedgerDeps, task: TaskSnapshot): Promise<void> {
  const reservation = { id: task.reservation_id, subject: task.subject };
  switch (task.status) {
    case 'refunded':
      await closeOnce(deps, reservation, { state: task.keeps_key === true ? 'settled' : 'refunded', units: 0 });
      break;
    case 'stopped':
    case 'succeeded':
    case 'failed':
      await closeOnce(deps, reservation, { state: 'settled', units: UNITS_PER_TASK });
      break;
    case 'submitting':
    case 'resolving':
    case 'running':
    case 'stopping':
      break;
  }
}
