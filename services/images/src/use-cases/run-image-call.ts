import type { SceneEntry } from '@vision/shared/contracts/scenes';
import { crashPoint } from '@vision/shared/crash-point';
import { throughOutage } from '@vision/shared/db/through-outage';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import type { AppError } from '@vision/shared/errors';
import type { Knex } from 'knex';
import { lockKey } from '../db/idempotency-keys.ts';
import { findImageCall } from '../db/image-calls.ts';
import { failedAsAWhole } from '../domain/image-call.ts';
import type { Claim, ImageCall, ImageEntry } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';
import { finishImageCall } from './finish-image-call.ts';
import { holdLease } from './hold-lease.ts';
import type { ReceivedImage } from './process-image.ts';
import { processImages } from './process-images.ts';
import type { ProcessDeps } from './process-images.ts';
import { undoImageCall } from './undo-image-call.ts';
import type { UndoDeps } from './undo-image-call.ts';

/** With the work on the images before it less than the gateway waits for an answer. */
const READ_BACK_MS = 10_000;

export type RunDeps = ProcessDeps & UndoDeps & Pick<Deps, 'settings'>;

export interface Work {
  images: ReceivedImage[];
  scene: SceneEntry;
  dailyLimit: number;
  /** When the work on the images has to be over, by `performance.now()`. */
  deadline: number;
}

/**
 * The work on a claimed key: reserve → relay and detect → store the result → settle. Whatever fails before the result
 * is stored is undone, so the key is free again and nothing is charged; recovery does the same for a process that died.
 */
export async function runImageCall(
  deps: RunDeps,
  claim: Claim,
  work: Work,
): Promise<{ call: ImageCall; entries: ImageEntry[]; processorMs: number[] }> {
  crashPoint('images.key_claimed');
  const startedAt = performance.now();
  const lease = holdLease(deps, claim);
  let refusal: AppError | undefined;
  try {
    refusal = await reserveUnits(deps, claim, work);
    if (refusal) throw refusal;
    crashPoint('images.units_reserved');
    const processed = await processImages(deps, { claim, ...work, signal: lease.lost });
    crashPoint('images.images_processed');
    const entries = processed.map(({ entry }) => entry);
    if (failedAsAWhole(entries.map((entry) => entry.outcome))) throw fail.sysUnavailable('no_image_could_be_processed');
    const call = await finishOnce(deps, claim, entries);
    crashPoint('images.result_stored');
    deps.signals.callFinished(call, (performance.now() - startedAt) / 1000);
    await settle(deps, call);
    crashPoint('images.units_settled');
    return { call, entries, processorMs: processed.map((one) => one.processorMs) };
  } catch (error) {
    await undoImageCall(deps, claim, { hadEffects: refusal === undefined, reason: error });
    throw error;
  } finally {
    lease.release();
  }
}

/** Takes one unit per image; returns the refusal when quota says that none were taken. */
async function reserveUnits(deps: RunDeps, claim: Claim, { images, dailyLimit }: Work): Promise<AppError | undefined> {
  const reply = await deps.quota.reserve(claim.reservationId, claim.subject, {
    idempotency_key: claim.key,
    kind: 'image',
    units: images.length,
    limit: dailyLimit,
  });
  switch (reply.outcome) {
    case 'granted':
      return undefined;
    case 'exhausted':
      return fail.dailyExhausted(reply);
    case 'conflict':
      return fail.keyReused();
    case 'closed':
      // Another process has undone this call already: the lease ran out while quota was asked.
      return fail.sysUnavailable('call_taken_over');
  }
}

/**
 * Stores the outcome. When the answer to the commit is lost, the record tells whether it took place, once no commit is
 * under way any more.
 */
async function finishOnce(deps: RunDeps, claim: Claim, entries: ImageEntry[]): Promise<ImageCall> {
  try {
    return await finishImageCall(deps, claim, entries);
  } catch (error) {
    const read = async (tx: Knex.Transaction) => {
      await lockKey(tx, claim);
      return findImageCall(tx, claim);
    };
    const stored = await throughOutage(() => inTransaction(deps.db, read), READ_BACK_MS);
    if (!stored) throw error;
    return stored;
  }
}

/** Gives the units of failed images back before the caller's next request; the event says the same once more. */
async function settle({ quota, signals }: RunDeps, call: ImageCall): Promise<void> {
  if (call.imagesSucceeded === call.imagesTotal) return;
  try {
    await quota.settle(call.reservationId, call.subject, call.imagesSucceeded);
  } catch (error) {
    signals.quotaNotTold(call.taskId, 'settle', error);
  }
}
