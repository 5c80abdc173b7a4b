import type { QuotaKind } from '@vision/contracts/quota';

/** Identifies a reservation. */
export interface ReservationRef {
  /** `<task_id>/<attempt>` */
  id: string;
  subject: string;
}

/** Requested reservation. */
export interface Reservation extends ReservationRef {
  idempotencyKey: string;
  kind: QuotaKind;
  units: number;
  /** Units per day; a grant never raises the counter above it. */
  limit: number;
}

/** The task or image call that a reservation belongs to. */
export function taskOf(reservationId: string): string {
  return reservationId.split('/')[0] ?? reservationId;
}

/** Outcome of an open reservation. */
export type Closing = { state: 'settled'; units: number } | { state: 'refunded'; units: 0 };
