import type { TaskSnapshot } from '@vision/shared/contracts/task-events';
import { closeOnce } from '../use-cases/close-reservation.ts';
import type { LedgerDeps } from '../use-cases/reserve.ts';

const UNITS_PER_TASK = 1;

/**
 * The guarantee behind the HTTP refund. An ended task keeps its charge; settling says that nothing can change any more, so the
 * reservation may leave the ledger by age. Any other state decides nothing: `resolving` holds its unit however long it takes.
 */
export async function applyTask(deps: LedgerDeps, task: TaskSnapshot): Promise<void> {
  const reservation = { id: task.reservation_id, subject: task.subject };
  switch (task.status) {
    case 'refunded':
      await closeOnce(deps, reservation, { state: 'refunded', units: 0 });
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
