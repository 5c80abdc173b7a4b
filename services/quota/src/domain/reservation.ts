import type { QuotaKind } from '@vision/contracts/quota';

/** Names a reservation. */
export interface ReservationRef {
  /** `<task_id>/<attempt>` */
  id: string;
  subject: string;
}

/** What is asked for. */
export interface Reservation extends ReservationRef {
  idempotencyKey: string;
  kind: QuotaKind;
  units: number;
  /** Units a day; a grant never takes the counter above it. */
  limit: number;
}

/** The task or image call that a reservation belongs to. */
export function taskOf(reservationId: string): string {
  return reservationId.split('/')[0] ?? reservationId;
}

/** What becomes of an open reservation. */
export type Closing = { state: 'settled'; units: number } | { state: 'refunded'; units: 0 };
