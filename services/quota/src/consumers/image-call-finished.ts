import type { ImageCallSnapshot } from '@vision/contracts/image-events';
import type { EffectTransaction } from '@vision/kafka/progress';
import { closeByEvent } from '../use-cases/close-reservation.ts';
import type { Deps } from '../use-cases/deps.ts';

/**
 * The guarantee behind the HTTP settlement: a call is charged for the images that succeeded, a rolled-back one for
 * nothing.
 */
export async function applyImageCall(
  deps: Pick<Deps, 'signals'>,
  call: ImageCallSnapshot,
  transaction: EffectTransaction,
): Promise<void> {
  const reservation = { id: call.reservation_id, subject: call.subject };
  if (call.status === 'refunded') await closeByEvent(deps, reservation, { state: 'refunded', units: 0 }, transaction);
  else await closeByEvent(deps, reservation, { state: 'settled', units: call.images_succeeded }, transaction);
}
