import { imageCallFinished } from '@vision/contracts/image-events';
import { fail } from '@vision/contracts/errors';
import { toOutboxRow } from '@vision/kafka/outbox';
import { storeImageCall } from '../db/store-image-call.ts';
import { toSnapshot } from '../domain/image-call.ts';
import type { Claim, ImageCall, ImageEntry } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';

/**
 * Stores the outcome: key, record, images and event in one statement.
 * @throws AppError OP-SYS-UNAVAILABLE `call_taken_over` when the claim was lost; nothing is stored then.
 */
export async function finishImageCall(
  { db, settings, wakeRelay }: Pick<Deps, 'db' | 'settings' | 'wakeRelay'>,
  claim: Claim,
  entries: ImageEntry[],
): Promise<ImageCall> {
  const { retentionDays } = settings;
  const call = toCall(claim, entries);
  const data = toSnapshot(call, 'succeeded');
  const event = toOutboxRow({ ...imageCallFinished, key: call.taskId, source: 'images', data });
  const { imagesSucceeded } = call;
  const done = await storeImageCall(db, { claim, entries, imagesSucceeded, retentionDays, event });
  if (!done) throw fail.sysUnavailable('call_taken_over');
  wakeRelay();
  return { ...call, updatedAt: done.updatedAt, resultExpiresAt: done.expiresAt };
}

/** The record of a call; the database sets when it finished and when it expires. */
function toCall(claim: Claim, entries: ImageEntry[]): ImageCall {
  return {
    taskId: claim.taskId,
    subject: claim.subject,
    requestId: claim.requestId,
    sceneCode: claim.sceneCode,
    clientRef: claim.clientRef,
    imagesTotal: entries.length,
    imagesSucceeded: entries.filter((entry) => entry.outcome.status === 'succeeded').length,
    reservationId: claim.reservationId,
    createdAt: claim.createdAt,
    updatedAt: claim.createdAt,
    resultExpiresAt: claim.createdAt,
  };
}
