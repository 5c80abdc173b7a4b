import type { SceneEntry } from '@vision/contracts/scenes';
import { crashPoint } from '@vision/shared/crash-point';
import { throughOutage } from '@vision/creation/through-outage';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { Knex } from 'knex';
import { claimKey, lockKey } from '../db/idempotency-keys.ts';
import type { NewKey } from '../db/idempotency-keys.ts';
import { findImageCall } from '../db/image-calls.ts';
import { failedAsAWhole } from '../domain/image-call.ts';
import type { Claim, ImageCall, ImageEntry } from '../domain/image-call.ts';
import { dayExhausted } from './day-exhausted.ts';
import type { Deps } from './deps.ts';
import { finishImageCall } from './finish-image-call.ts';
import { holdLease } from './hold-lease.ts';
import type { ReceivedImage } from './process-image.ts';
import { processImages } from './process-images.ts';
import type { ImagesInput } from './process-images.ts';
import { rollBackImageCall } from './roll-back-image-call.ts';
import type { RollbackDeps } from './roll-back-image-call.ts';
import { speculate } from './speculate.ts';
import type { SpeculateDeps, SpeculativeWork } from './speculate.ts';

/** Together with the work on the images, less than the timeout of the gateway. */
const READ_BACK_MS = 10_000;

export type RunDeps = RollbackDeps & SpeculateDeps & Pick<Deps, 'settings'>;

export interface Work {
  images: ReceivedImage[];
  scene: SceneEntry;
  dailyLimit: number;
  /** When the work on the images must end, by `performance.now()`. */
  deadline: number;
}

export interface WorkedCall {
  call: ImageCall;
  entries: ImageEntry[];
  /** Processor time that the backend took for each image. */
  processorMs: number[];
}

/**
 * The work on a new key: claim → reserve → relay and detect → store the result → settle. Detection has no effects, so
 * it may begin before the first two steps; no result is stored, charged or answered without them (ADR 11). A failure
 * before the result is stored is rolled back, so the key is free again; recovery does the same for a process that died.
 * @returns undefined when another call holds the key.
 */
export async function runImageCall(deps: RunDeps, key: NewKey, work: Work): Promise<WorkedCall | undefined> {
  const startedAt = performance.now();
  const ending = new AbortController();
  const confirmation = Promise.withResolvers<void>();
  const input = { call: key, ...work, confirmed: confirmation.promise, signal: ending.signal };
  const speculative = speculate(deps, key, input);
  try {
    const claim = await claimKey(deps.db, key, deps.settings.leaseMs);
    if (!claim) {
      // A client can trigger one speculative run per replica with the same key.
      if (speculative) deps.speculation.noteRefused(key.subject);
      return undefined;
    }
    crashPoint('images.key_claimed');
    return await runClaimed(deps, claim, { ...work, startedAt, ending, confirmation, input, speculative });
  } finally {
    ending.abort(fail.sysUnavailable('call_not_confirmed'));
    await speculative?.end();
  }
}

interface ClaimedWork extends Work {
  startedAt: number;
  /** Aborts the work on the images. */
  ending: AbortController;
  /** Resolved when the units are reserved; images may be stored from then on. */
  confirmation: { resolve: () => void };
  input: ImagesInput;
  /** Detection of the images, if it has begun speculatively. */
  speculative: SpeculativeWork | undefined;
}

/** The work on a claimed key; rolls it back on failure. */
async function runClaimed(deps: RunDeps, claim: Claim, work: ClaimedWork): Promise<WorkedCall> {
  const { ending } = work;
  const lease = holdLease(deps, claim, ending);
  let refusal: AppError | undefined;
  try {
    refusal = await reserveUnits(deps, claim, work);
    if (refusal) throw refusal;
    crashPoint('images.units_reserved');
    const worked = await finishWork(deps, claim, work);
    await settle(deps, worked.call);
    crashPoint('images.units_settled');
    return worked;
  } catch (error) {
    ending.abort(error);
    await rollBackImageCall(deps, claim, { hadEffects: refusal === undefined, reason: error });
    throw error;
  } finally {
    lease.release();
  }
}

/** From the images to the stored result. */
async function finishWork(deps: RunDeps, claim: Claim, work: ClaimedWork): Promise<WorkedCall> {
  const { speculative, confirmation, input, startedAt } = work;
  speculative?.keep();
  confirmation.resolve();
  const processed = await (speculative?.processed ?? processImages(deps, input));
  crashPoint('images.images_processed');
  const entries = processed.map(({ entry }) => entry);
  if (failedAsAWhole(entries.map((entry) => entry.outcome))) throw fail.sysUnavailable('no_image_could_be_processed');
  const call = await finishOnce(deps, claim, entries);
  crashPoint('images.result_stored');
  deps.signals.callFinished(call, (performance.now() - startedAt) / 1000);
  return { call, entries, processorMs: processed.map((one) => one.processorMs) };
}

/** Reserves one unit per image; returns the refusal when quota reports that no unit was taken. */
async function reserveUnits(deps: RunDeps, claim: Claim, { images, dailyLimit }: Work): Promise<AppError | undefined> {
  const { quota, speculation } = deps;
  const reply = await quota.reserve(claim.reservationId, claim.subject, {
    idempotency_key: claim.key,
    kind: 'image',
    units: images.length,
    limit: dailyLimit,
  });
  if (reply.outcome === 'granted') speculation.noteTaken(claim.subject, images.length);
  else speculation.noteRefused(claim.subject);
  switch (reply.outcome) {
    case 'granted':
      return undefined;
    case 'exhausted':
      return dayExhausted(deps, { subject: claim.subject, except: claim.taskId }, reply);
    case 'conflict':
      return fail.keyReused();
    case 'closed':
      // Another process has rolled this call back already: the lease expired during the request to quota.
      return fail.sysUnavailable('call_taken_over');
  }
}

/**
 * Stores the outcome. When the answer to the commit is lost, the record shows whether it took place, once no commit is
 * in progress any more.
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

/** Refunds the units of failed images before the next request of the caller; the event repeats the settlement. */
async function settle({ quota, signals }: RunDeps, call: ImageCall): Promise<void> {
  if (call.imagesSucceeded === call.imagesTotal) return;
  try {
    await quota.settle(call.reservationId, call.subject, call.imagesSucceeded);
  } catch (error) {
    signals.quotaNotTold(call.taskId, 'settle', error);
  }
}
