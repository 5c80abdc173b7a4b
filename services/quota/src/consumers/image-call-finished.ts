import type { ImageCallSnapshot } from '@vision/shared/contracts/image-events';
import { closeOnce } from '../use-cases/close-reservation.ts';
import type { LedgerDeps } from '../use-cases/reserve.ts';

/** The guarantee behind the HTTP settlement: the call charges the images that succeeded, an undone call nothing. */
export async function applyImageCall(deps: LedgerDeps, call: ImageCallSnapshot): Promise<void> {
  const reservation = { id: call.reservation_id, subject: call.subject };
  if (call.status === 'refunded') await closeOnce(deps, reservation, { state: 'refunded', units: 0 });
  else await closeOnce(deps, reservation, { state: 'settled', units: call.images_succeeded });
}
