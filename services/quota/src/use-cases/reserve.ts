import type { ReserveReply } from '@vision/contracts/quota';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import { reserveUnits } from '../db/ledger.ts';
import { resetsAt } from '../domain/quota-day.ts';
import type { Reservation } from '../domain/reservation.ts';
import type { Deps } from './deps.ts';

/**
 * Reserves units of today's quota, all or none. A repeat with the same id returns the same response without taking
 * more.
 * @throws AppError of kind `conflict` when the id is known with another subject, key, kind or number of units.
 */
export async function reserve(
  { db, signals }: Pick<Deps, 'db' | 'signals'>,
  input: Reservation,
): Promise<ReserveReply> {
  const { outcome, day, used } = await reserveUnits(db, input);
  crashPoint('quota.reserved');
  signals.reserved(input, outcome);
  switch (outcome) {
    case 'granted':
    case 'conflict':
    case 'closed':
      return { outcome };
    case 'exhausted':
      return { outcome, limit: input.limit, used, requested: input.units, resets_at: resetsAt(day) };
    case 'differs':
      throw fail.conflict('reservation_differs', 'This reservation id is known with other facts.');
  }
}
