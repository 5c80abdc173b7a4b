import { imageCallFinished } from '@vision/shared/contracts/image-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import { appendEvent } from '@vision/shared/messaging/outbox';
import { markDone } from '../db/idempotency-keys.ts';
import { insertImageCall } from '../db/image-calls.ts';
import { toSnapshot } from '../domain/image-call.ts';
import type { Claim, ImageCall, ImageEntry } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';

/**
 * Stores the outcome: key, record, images and event in one transaction.
 * @throws AppError OP-SYS-UNAVAILABLE `call_taken_over` when the claim was lost; nothing is stored then.
 */
export async function finishImageCall(
  { db, settings, wakeRelay }: Pick<Deps, 'db' | 'settings' | 'wakeRelay'>,
  claim: Claim,
  entries: ImageEntry[],
): Promise<ImageCall> {
  const call = await inTransaction(db, async (tx) => {
    const done = await markDone(tx, claim, settings.retentionDays);
    if (!done) throw fail.sysUnavailable('call_taken_over');
    const finished = toCall(claim, entries, done);
    await insertImageCall(tx, finished, entries);
    await appendEvent(tx, {
      ...imageCallFinished,
      key: finished.taskId,
      source: 'images',
      data: toSnapshot(finished, 'succeeded'),
    });
    return finished;
  });
  wakeRelay();
  return call;
}

function toCall(claim: Claim, entries: ImageEntry[], done: { updatedAt: Date; expiresAt: Date }): ImageCall {
  return {
    taskId: claim.taskId,
    subject: claim.subject,
    requestId: claim.requestId,
    sceneCode: claim.sceneCode,
    imagesTotal: entries.length,
    imagesSucceeded: entries.filter((entry) => entry.outcome.status === 'succeeded').length,
    reservationId: claim.reservationId,
    createdAt: claim.createdAt,
    updatedAt: done.updatedAt,
    resultExpiresAt: done.expiresAt,
  };
}
