import { endReservation as question } from '@vision/contracts/quota';
import type { EndedReservation } from '@vision/contracts/quota';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

interface ReservationEnd {
  reservationId: string;
  outcome: 'charge' | 'refund';
  reason: string;
  actor: string;
}

/** Ends an open reservation for an operator; actor and reason are in the audit log. */
export async function endReservation(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { reservationId, outcome, reason, actor }: ReservationEnd,
): Promise<EndedReservation> {
  const act = { actor, action: `reservation.${outcome}`, target: reservationId, details: { reason } };
  const body = { reservation_id: reservationId, outcome, who: actor };
  return audited(db, act, () => owners.quota.ask(question, { subject: OPERATOR, body }));
}
