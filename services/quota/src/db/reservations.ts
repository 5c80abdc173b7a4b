import type { Knex } from 'knex';

export interface ReservationRow {
  id: string;
  /** Null when it was settled or refunded before it was ever made. */
  kind: string | null;
  state: string;
  units: number;
  charged: number;
  /** `YYYY-MM-DD` in UTC+8. */
  day: string | null;
  created_at: Date;
  closed_at: Date | null;
}

/** Attempts of a create beyond this are not looked for: their number is part of the id that is asked for. */
const ATTEMPTS = 100;

/** The reservations of a task, by attempt. */
export async function findReservations(db: Knex, taskId: string): Promise<ReservationRow[]> {
  const ids = Array.from({ length: ATTEMPTS }, (_none, index) => `${taskId}/${index + 1}`);
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
