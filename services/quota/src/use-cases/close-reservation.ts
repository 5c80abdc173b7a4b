import type { CloseReply } from '@vision/shared/contracts/quota';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/shared/errors';
import { closeReservation } from '../db/ledger.ts';
import type { Closing } from '../db/ledger.ts';
import type { LedgerDeps } from './reserve.ts';

/**
 * Settles or refunds a reservation, once: whoever comes first decides, later and repeated calls get what it charges in
 * the end. An id that is not known yet is closed, so that a late reserve charges nothing.
 * @throws AppError of kind `conflict` for another subject's id, or more units than were reserved.
 */
export async function closeOnce(
  { db, signals }: LedgerDeps,
  reservation: { id: string; subject: string },
  closing: Closing,
): Promise<CloseReply> {
  const { outcome, charged } = await closeReservation(db, reservation, closing);
  crashPoint('quota.closed');
  if (outcome === 'differs') {
    throw fail.conflict('reservation_differs', 'This reservation belongs to another subject or has fewer units.');
  }
  signals.closed(closing.state);
  return { charged };
}
