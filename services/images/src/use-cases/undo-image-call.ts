import type { Knex } from 'knex';
import { atMost } from '@vision/shared/async/at-most';
import { imageCallFinished } from '@vision/shared/contracts/image-events';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { asAppError } from '@vision/shared/errors';
import { appendEvent } from '@vision/shared/messaging/outbox';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import type { QuotaClient } from '@vision/shared/quota-client';
import { markUndoing, releaseKey } from '../db/idempotency-keys.ts';
import type { Claim } from '../db/idempotency-keys.ts';
import { findFinished } from '../db/image-calls.ts';
import { toSnapshot } from '../domain/image-call.ts';
import { pictureKey } from '../domain/picture-key.ts';
import type { Signals } from '../signals.ts';

export interface UndoDeps {
  db: Knex;
  quota: QuotaClient;
  store: Pick<ObjectStore, 'remove'>;
  signals: Signals;
  retentionDays: number;
  published: () => void;
}

export interface Undo {
  /** false when it is certain that no unit was taken and no picture stored. */
  hadEffects: boolean;
  /** Why, for the log. */
  reason: unknown;
}

const DAY_MS = 86_400_000;
/** Pictures that take longer to remove are removed while nobody waits, at the latest by the sweep. */
const REMOVAL_WAIT_MS = 2_000;

/**
 * Takes back what a call has left: units, pictures, at last the key. Nothing is touched before the key row says `undoing`:
 * a call whose result was stored after all, or that somebody else has taken over, stays as it is. Every step may be repeated.
 * The key goes together with the event that guarantees the refund, so quota and the store may be away; when the database is,
 * recovery comes back to it.
 */
export async function undoImageCall(deps: UndoDeps, claim: Claim, { hadEffects, reason }: Undo): Promise<void> {
  try {
    if (hadEffects) {
      if (!(await markUndoing(deps.db, claim))) {
        await removeLatePictures(deps, claim);
        return;
      }
      crashPoint('images.undo_begun');
      await Promise.all([refund(deps, claim), atMost(REMOVAL_WAIT_MS, removePictures(deps, claim))]);
      crashPoint('images.effects_undone');
    }
    if (!(await release(deps, claim, hadEffects))) return;
    crashPoint('images.key_released');
    deps.signals.callUndone(claim.task_id, asAppError(reason)?.reason ?? 'unexpected');
  } catch (error) {
    deps.signals.releaseFailed(claim.task_id, error);
  }
}

async function refund({ quota, signals }: UndoDeps, claim: Claim): Promise<void> {
  try {
    await quota.refund(claim.reservation_id, claim.subject);
  } catch (error) {
    signals.courtesyFailed(claim.task_id, 'refund', error);
  }
}

async function removePictures({ store, signals }: UndoDeps, claim: Claim): Promise<void> {
  try {
    await store.remove(Array.from({ length: claim.images_total }, (_, seq) => pictureKey(claim.task_id, seq)));
  } catch (error) {
    signals.leftBehind(claim.task_id, error);
  }
}

/** Whoever took the call over has removed what was stored until then; what this process stored since is still there. */
async function removeLatePictures(deps: UndoDeps, claim: Claim): Promise<void> {
  const finished = await findFinished(deps.db, [claim.task_id]);
  if (finished.length === 0) await removePictures(deps, claim);
}

async function release(deps: UndoDeps, claim: Claim, hadEffects: boolean): Promise<boolean> {
  const released = await inTransaction(deps.db, async (tx) => {
    if (!(await releaseKey(tx, claim))) return false;
    if (hadEffects) await appendEvent(tx, undoneEvent(claim, deps.retentionDays));
    return true;
  });
  deps.published();
  return released;
}

function undoneEvent(claim: Claim, retentionDays: number) {
  const call = {
    taskId: claim.task_id,
    subject: claim.subject,
    requestId: claim.request_id,
    sceneCode: claim.scene_code,
    imagesTotal: claim.images_total,
    imagesSucceeded: 0,
    reservationId: claim.reservation_id,
    createdAt: claim.created_at,
    updatedAt: claim.created_at,
    resultExpiresAt: new Date(claim.created_at.getTime() + retentionDays * DAY_MS),
  };
  return { ...imageCallFinished, key: claim.task_id, source: 'images', data: toSnapshot(call, 'refunded') };
}
