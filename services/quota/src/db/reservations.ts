import type { Knex } from 'knex';
import { reservationIdOf } from '@vision/contracts/reservation-id';

export interface ReservationRow {
  id: string;
  /** Null when it was settled or refunded before it was reserved. */
  kind: string | null;
  state: string;
  units: number;
  charged: number;
  /** `YYYY-MM-DD` in UTC+8. */
  day: string | null;
  created_at: Date;
  closed_at: Date | null;
}

/** Attempts of one create request beyond this are not queried: their number is part of the requested id. */
const ATTEMPTS = 100;

/** Subject and units of an open reservation. */
export async function findOpenById(db: Knex, id: string): Promise<{ subject: string; units: number } | undefined> {
  const [open] = await db('reservations')
    .where({ id, state: 'open' })
    .select<{ subject: string; units: number }[]>('subject', 'units');
  return open;
}

/** Makes every open reservation due for a check now. */
export async function hastenOpen(db: Knex): Promise<void> {
  await db('reservations').where({ state: 'open' }).where('ask_at', '>', db.fn.now()).update({ ask_at: db.fn.now() });
}

/** The reservations of a task, by attempt. */
export async function findReservations(db: Knex, taskId: string): Promise<ReservationRow[]> {
  const ids = Array.from({ length: ATTEMPTS }, (_none, index) => reservationIdOf(taskId, index + 1));
  return db('reservations')
    .whereIn('id', ids)
    .orderBy('created_at')
    .select<ReservationRow[]>(
      'id',
      'kind',
      'state',
      'units',
      'charged',
      db.raw('day::text as day'),
      'created_at',
      'closed_at',
    );
}
