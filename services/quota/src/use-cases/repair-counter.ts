import type { CounterRepair } from '@vision/contracts/quota';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import { recordRepair, repair } from '../db/audit.ts';
import type { CounterRef } from '../domain/counter.ts';
import type { Deps } from './deps.ts';

/**
 * Corrects a counter from its reservations, and stores actor and reason.
 * @throws AppError of kind `not_found` when the subject never used this quota on that day.
 */
export async function repairCounter(
  { db, signals }: Pick<Deps, 'db' | 'signals'>,
  counter: CounterRef,
  by: { who: string; reason: string },
): Promise<CounterRepair> {
  const repaired = await inTransaction(db, async (tx) => {
    const done = await repair(tx, counter);
    if (done) await recordRepair(tx, done, by);
    return done;
  });
  if (!repaired) throw fail.notFound('There is no such counter.', 'counter_not_found');
  signals.counterRepaired(repaired, by);
  return repaired;
}
