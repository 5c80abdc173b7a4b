import type { Knex } from 'knex';
import { imageCallFinished } from '@vision/shared/contracts/image-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import { appendEvent } from '@vision/shared/messaging/outbox';
import { markDone } from '../db/idempotency-keys.ts';
import type { Claim, Clock } from '../db/idempotency-keys.ts';
import { insertImageCall } from '../db/image-calls.ts';
import { toSnapshot } from '../domain/image-call.ts';
import type { ImageCall, ImageEntry } from '../domain/image-call.ts';

export interface FinishDeps {
  db: Knex;
  clock: Clock;
  retentionDays: number;
  /** Tells the relay that there is an event. */
  published: () => void;
}

/**
 * Stores the outcome: key, record, images and event in one transaction.
 * @throws AppError OP-SYS-UNAVAILABLE `call_taken_over` when the claim was lost; nothing is stored then.
 */
export async function finishImageCall(deps: FinishDeps, claim: Claim, entries: ImageEntry[]): Promise<ImageCall> {
  const call = await inTransaction(deps.db, async (tx) => {
    const done = await markDone(tx, deps.clock, { claim, retentionDays: deps.retentionDays });
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
  deps.published();
  return call;
}

function toCall(claim: Claim, entries: ImageEntry[], done: { updatedAt: Date; expiresAt: Date }): ImageCall {
  return {
    taskId: claim.task_id,
    subject: claim.subject,
    requestId: claim.request_id,
    sceneCode: claim.scene_code,
    imagesTotal: entries.length,
    imagesSucceeded: entries.filter((entry) => entry.outcome.status === 'succeeded').length,
    reservationId: claim.reservation_id,
    createdAt: claim.created_at,
    updatedAt: done.updatedAt,
    resultExpiresAt: done.expiresAt,
  };
}
