import type { CloseReply } from '@vision/contracts/quota';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import type { EffectTransaction } from '@vision/kafka/progress';
import { closeReservation } from '../db/ledger.ts';
import type { CloseRow } from '../db/ledger.ts';
import type { Closing, ReservationRef } from '../domain/reservation.ts';
import type { Deps } from './deps.ts';

type CloseDeps = Pick<Deps, 'db' | 'signals'>;

/**
 * Charges `units` of a reservation and refunds the others: its request was accepted, so its key stays taken.
 * @throws AppError as `close`.
 */
export async function settle(deps: CloseDeps, reservation: ReservationRef, units: number): Promise<CloseReply> {
  return close(deps, reservation, { state: 'settled', units });
}

/**
 * Refunds all units: the request was rolled back, so its key is free.
 * @throws AppError as `close`.
 */
export async function refund(deps: CloseDeps, reservation: ReservationRef): Promise<CloseReply> {
  return close(deps, reservation, { state: 'refunded', units: 0 });
}

/**
 * Closes a reservation by an event, in the transaction of its delivery.
 * @throws AppError as `close`.
 */
export async function closeByEvent(
  { signals }: Pick<Deps, 'signals'>,
  reservation: ReservationRef,
  closing: Closing,
  transaction: EffectTransaction,
): Promise<void> {
  report(signals, reservation, closing, await transaction((tx) => closeReservation(tx, reservation, closing)));
}

/**
 * Closes a reservation once: the first call decides, later and repeated calls get its final charge. An unknown id is
 * closed too, so that a late reserve charges nothing.
 * @throws AppError of kind `conflict` for another subject's id, or more units than were reserved.
 */
async function close({ db, signals }: CloseDeps, reservation: ReservationRef, closing: Closing): Promise<CloseReply> {
  return report(signals, reservation, closing, await closeReservation(db, reservation, closing));
}

function report(
  signals: Deps['signals'],
  reservation: ReservationRef,
  closing: Closing,
  { outcome, charged }: CloseRow,
): CloseReply {
  crashPoint('quota.closed');
  if (outcome === 'differs') {
    throw fail.conflict('reservation_differs', 'This reservation belongs to another subject or has fewer units.');
  }
  signals.closed(reservation, closing.state, charged);
  return { charged };
}
