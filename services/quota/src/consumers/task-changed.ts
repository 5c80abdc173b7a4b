import type { TaskSnapshot } from '@vision/contracts/task-events';
import type { EffectTransaction } from '@vision/kafka/progress';
import { closeByEvent } from '../use-cases/close-reservation.ts';
import type { Deps } from '../use-cases/deps.ts';
import type { Closing } from '../domain/reservation.ts';

const UNITS_PER_TASK = 1;

/**
 * The guarantee behind the HTTP requests of tasks. A task that callers can see is settled when it ends, a refunded one
 * with 0 units, so its key stays taken; only a creation that was rolled back is refunded. Other states change nothing:
 * a task in `resolving` keeps its unit, however long it takes.
 */
export async function applyTask(
  deps: Pick<Deps, 'signals'>,
  task: TaskSnapshot,
  transaction: EffectTransaction,
): Promise<void> {
  const closing = closingOf(task);
  const reservation = { id: task.reservation_id, subject: task.subject };
  if (closing) await closeByEvent(deps, reservation, closing, transaction);
}

function closingOf({ status, keeps_key: keepsKey }: TaskSnapshot): Closing | undefined {
  switch (status) {
    case 'refunded':
      return keepsKey === true ? { state: 'settled', units: 0 } : { state: 'refunded', units: 0 };
    case 'stopped':
    case 'succeeded':
    case 'failed':
      return { state: 'settled', units: UNITS_PER_TASK };
    case 'submitting':
    case 'resolving':
    case 'running':
    case 'stopping':
      return undefined;
  }
}
