import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { hiddenStatuses } from '../domain/task.ts';
import { inFuture } from './instants.ts';
import { TASKS } from './task-row.ts';

/**
 * Corrects leases and due times that a fast database clock wrote too far ahead: later than any pause or lease allows.
 * Otherwise these tasks would wait until the clock has caught up.
 */
export async function bringBackInstants(
  db: Knex,
  { leaseMs, longestMs }: { leaseMs: number; longestMs: number },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const tooFar = inFuture(tx, longestMs);
    const lease = inFuture(tx, leaseMs);
    await tx(TASKS).where('check_at', '>', tooFar).update({ check_at: tx.fn.now() });
    await tx(TASKS)
      .whereIn('status', [...hiddenStatuses])
      .where('lease_until', '>', tooFar)
      .update({ lease_until: lease });
    await tx('idempotency_keys')
      .where({ done: false })
      .where('lease_until', '>', tooFar)
      .update({ lease_until: lease });
    // A stop with a time in the future is sent again.
    await tx(TASKS).where({ status: 'stopping' }).where('stop_sent_at', '>', tooFar).update({ stop_sent_at: null });
    await tx('deleted_tasks')
      .where({ confirmed_at: null })
      .where('tell_at', '>', tooFar)
      .update({ tell_at: tx.fn.now() });
    await tx('place_claims').where('expires_at', '>', tooFar).update({ expires_at: lease });
  });
}
