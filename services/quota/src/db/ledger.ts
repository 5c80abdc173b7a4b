import type { Knex } from 'knex';
import type { Closing, Reservation, ReservationRef } from '../domain/reservation.ts';
import { queryPrepared } from './prepared.ts';

export interface ReserveRow {
  outcome: 'granted' | 'exhausted' | 'conflict' | 'closed' | 'differs';
  /** `YYYY-MM-DD` in UTC+8. */
  day: string;
  /** Valid when exhausted. */
  used: number;
}

export interface CloseRow {
  outcome: 'done' | 'differs';
  charged: number;
}

/**
 * Sets `quota.move` before the function of the ledger runs, which needs `move` for its first argument: the audit then
 * notes the reservation alone, as counter and reservation change together. It holds until the transaction ends, so
 * nothing else in it may write counters.
 */
const MOVE = `set_config('quota.move', 'on', true) as move, lateral`;

export async function reserveUnits(db: Knex, input: Reservation): Promise<ReserveRow> {
  const { id, subject, idempotencyKey, kind, units, limit } = input;
  const rows = await queryPrepared<ReserveRow>(db, {
    name: 'reserve_units',
    text: `select outcome, day::text, used from ${MOVE} reserve_units($1::text || left(move, 0), $2, $3, $4, $5, $6)`,
    values: [id, subject, idempotencyKey, kind, units, limit],
  });
  return onlyRow(rows);
}

export async function closeReservation(
  db: Knex,
  { id, subject }: ReservationRef,
  { state, units }: Closing,
): Promise<CloseRow> {
  const rows = await queryPrepared<CloseRow>(db, {
    name: 'close_reservation',
    text: `select outcome, charged from ${MOVE} close_reservation($1::text || left(move, 0), $2, $3, $4)`,
    values: [id, subject, state, units],
  });
  return onlyRow(rows);
}

function onlyRow<T>(rows: T[]): T {
  const [row] = rows;
  if (!row) throw new Error('the ledger function returned no row');
  return row;
}
