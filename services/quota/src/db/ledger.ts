import type { Knex } from 'knex';
import type { QuotaKind } from '@vision/shared/contracts/quota';

export interface Reservation {
  id: string;
  subject: string;
  idempotencyKey: string;
  kind: QuotaKind;
  units: number;
  /** Units a day; a grant never takes the counter above it. */
  limit: number;
}

export interface ReserveRow {
  outcome: 'granted' | 'exhausted' | 'conflict' | 'closed' | 'differs';
  /** `YYYY-MM-DD` in UTC+8. */
  day: string;
  /** Meaningful when exhausted. */
  used: number;
}

export interface CloseRow {
  outcome: 'done' | 'differs';
  charged: number;
}

/** What `close_reservation` turns an open reservation into. */
export type Closing = { state: 'settled'; units: number } | { state: 'refunded'; units: 0 };

export async function reserveUnits(db: Knex, input: Reservation): Promise<ReserveRow> {
  const result = await db.raw<{ rows: ReserveRow[] }>(
    `select outcome, day::text, used from reserve_units(:id, :subject, :idempotencyKey, :kind, :units, :limit)`,
    { ...input },
  );
  return onlyRow(result.rows);
}

export async function closeReservation(
  db: Knex,
  reservation: { id: string; subject: string },
  closing: Closing,
): Promise<CloseRow> {
  const result = await db.raw<{ rows: CloseRow[] }>(
    `select outcome, charged from close_reservation(:id, :subject, :state, :units)`,
    { ...reservation, ...closing },
  );
  return onlyRow(result.rows);
}

function onlyRow<T>(rows: T[]): T {
  const [row] = rows;
  if (!row) throw new Error('the ledger function returned no row');
  return row;
}
