import type { ImageCallSnapshot } from '@vision/shared/contracts/image-events';
import { refund, settle } from '../use-cases/close-reservation.ts';
import type { Deps } from '../use-cases/deps.ts';

/** The guarantee behind the HTTP settlement: the call charges the images that succeeded, an undone call nothing. */
export async function applyImageCall(deps: Pick<Deps, 'db' | 'signals'>, call: ImageCallSnapshot): Promise<void> {
  const reservation = { id: call.reservation_id, subject: call.subject };
  if (call.status === 'refunded') await refund(deps, reservation);
  else await settle(deps, reservation, call.images_succeeded);
}
