import { atMost } from '@vision/shared/async/at-most';
import { imageCallFinished } from '@vision/contracts/image-events';
import { standingOf } from '@vision/objects/bucket-owner';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { asAppError } from '@vision/contracts/errors';
import { appendEvent } from '@vision/kafka/outbox';
import { markUndoing, releaseKey } from '../db/idempotency-keys.ts';
import { findFinished } from '../db/image-calls.ts';
import { toSnapshot } from '../domain/image-call.ts';
import type { Claim, ImageCall } from '../domain/image-call.ts';
import { pictureKeys } from '../domain/picture-key.ts';
import type { Deps } from './deps.ts';
import { picturesOf } from './sweep-orphan-pictures.ts';
import type { SweepDeps } from './sweep-orphan-pictures.ts';

export type RollbackDeps = SweepDeps & Pick<Deps, 'ownPrefix' | 'quota' | 'settings' | 'wakeRelay'>;

export interface Rollback {
  /** False when no unit was taken and no image stored for certain. */
  hadEffects: boolean;
  /**
   * Its process died: in a restored database the call may have finished since, so its images are not removed there.
   */
  isRecovery?: boolean;
  /** Why, for the log. */
  reason: unknown;
}

const DAY_MS = 86_400_000;
/** A longer removal continues in the background; the sweep removes the rest. */
const REMOVAL_WAIT_MS = 2_000;

/**
 * Rolls back a call: refunds its units, removes its images and finally releases its key. Every step may be repeated. It
 * first sets the key row to `undoing`, which fails when the result was stored after all or the call was taken over.
 * The key is removed together with the event that guarantees the refund, so quota and the store may be unavailable.
 * While the database is unavailable, recovery rolls back the call later.
 */
export async function rollBackImageCall(deps: RollbackDeps, claim: Claim, rollback: Rollback): Promise<void> {
  try {
    await tryRollback(deps, claim, rollback);
  } catch (error) {
    deps.signals.rollbackFailed(claim.taskId, error);
  }
}

/** The rollback for the recovery, which repeats it. Rejects when the database fails. */
export async function tryRollback(deps: RollbackDeps, claim: Claim, rollback: Rollback): Promise<void> {
  const { hadEffects, isRecovery = false, reason } = rollback;
  if (hadEffects) {
    if (!(await markUndoing(deps.db, claim))) {
      await removeLatePictures(deps, claim, isRecovery);
      return;
    }
    crashPoint('images.rollback_begun');
    await Promise.all([refund(deps, claim), atMost(REMOVAL_WAIT_MS, removePictures(deps, claim, isRecovery))]);
    crashPoint('images.effects_rolled_back');
  }
  if (!(await release(deps, claim, hadEffects))) return;
  crashPoint('images.key_released');
  deps.signals.callRolledBack(claim.taskId, asAppError(reason)?.reason ?? 'unexpected');
}

async function refund({ quota, signals }: RollbackDeps, claim: Claim): Promise<void> {
  try {
    await quota.refund(claim.reservationId, claim.subject);
  } catch (error) {
    signals.quotaNotTold(claim.taskId, 'refund', error);
  }
}

async function removePictures(deps: RollbackDeps, claim: Claim, isRecovery: boolean): Promise<void> {
  const { ownPrefix, store, signals } = deps;
  try {
    if (isRecovery && (await standingOf(picturesOf(deps))) === 'restored') return;
    await store.remove(pictureKeys(await ownPrefix(), claim));
  } catch (error) {
    signals.picturesLeftBehind(claim.taskId, error);
  }
}

/**
 * The process that took the call over removed the images stored until then; images that this process stored since still
 * exist.
 */
async function removeLatePictures(deps: RollbackDeps, claim: Claim, isRecovery: boolean): Promise<void> {
  const finished = await findFinished(deps.db, [claim.taskId]);
  if (finished.length === 0) await removePictures(deps, claim, isRecovery);
}

async function release(deps: RollbackDeps, claim: Claim, hadEffects: boolean): Promise<boolean> {
  const released = await inTransaction(deps.db, async (tx) => {
    if (!(await releaseKey(tx, claim))) return false;
    if (hadEffects) await appendEvent(tx, rolledBackEvent(claim, deps.settings.retentionDays));
    return true;
  });
  deps.wakeRelay();
  return released;
}

function rolledBackEvent(claim: Claim, retentionDays: number) {
  const call: ImageCall = {
    taskId: claim.taskId,
    subject: claim.subject,
    requestId: claim.requestId,
    sceneCode: claim.sceneCode,
    clientRef: claim.clientRef,
    imagesTotal: claim.imagesTotal,
    imagesSucceeded: 0,
    reservationId: claim.reservationId,
    createdAt: claim.createdAt,
    updatedAt: claim.createdAt,
    resultExpiresAt: new Date(claim.createdAt.getTime() + retentionDays * DAY_MS),
  };
  return { ...imageCallFinished, key: claim.taskId, source: 'images', data: toSnapshot(call, 'refunded') };
}
