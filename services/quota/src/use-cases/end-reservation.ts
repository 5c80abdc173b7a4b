import type { EndedReservation } from '@vision/contracts/quota';
import { fail } from '@vision/contracts/errors';
import { findOpenById } from '../db/reservations.ts';
import { refund, settle } from './close-reservation.ts';
import type { Deps } from './deps.ts';

/**
 * Ends an open reservation for an operator, who decides whether its units are charged.
 * @throws AppError of kind `not_found` for one that is unknown or closed.
 */
export async function endReservation(
  deps: Pick<Deps, 'db' | 'signals'>,
  { id, outcome }: { id: string; outcome: 'charge' | 'refund' },
): Promise<EndedReservation> {
  const open = await findOpenById(deps.db, id);
  if (!open) throw fail.notFound('There is no such open reservation.', 'reservation_not_open');
  const { subject, units } = open;
  const reservation = { id, subject };
  const { charged } = outcome === 'charge' ? await settle(deps, reservation, units) : await refund(deps, reservation);
  return { reservation_id: id, subject, units, charged };
}
