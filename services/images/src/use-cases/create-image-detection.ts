import { v7 as uuidv7 } from 'uuid';
import type { CreateQuery } from '@vision/contracts/create-query';
import { defaultLimits } from '@vision/contracts/limits';
import type { SceneEntry } from '@vision/contracts/scenes';
import { reservationIdOf } from '@vision/contracts/reservation-id';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { IdempotencyKey } from '@vision/creation/idempotency-key';
import { findKey } from '../db/idempotency-keys.ts';
import type { NewKey } from '../db/idempotency-keys.ts';
import { findImageCall, findImages } from '../db/image-calls.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import type { ImageCall, ImageEntry, KeyHolder, KeyId } from '../domain/image-call.ts';
import { assertAccepting, assertUnitsLeft, isSurelyAdmitted, unlessReplay } from './admit-image-call.ts';
import type { Deps } from './deps.ts';
import type { ReceivedImage } from './process-image.ts';
import { runImageCall } from './run-image-call.ts';
import type { RunDeps } from './run-image-call.ts';
import { waitForHolder } from './wait-for-holder.ts';

export type CreateDeps = RunDeps & Pick<Deps, 'scenes'>;

export interface Upload {
  sceneCode: string;
  images: ReceivedImage[];
}

export interface CreateImageDetection {
  caller: Caller;
  idempotencyKey: IdempotencyKey;
  query: CreateQuery;
  /** Ends the wait for another call; work in progress is completed. */
  signal: AbortSignal;
}

/** A call whose body may be read. */
export interface OpenCall {
  id: KeyId;
  /** The call that holds the key. */
  holder: Promise<KeyHolder | undefined>;
  /** Rejects when the daily quota is used up; checked while the body is read. */
  admission: Promise<void>;
  /** Aborted when the body is not needed any more. */
  refused: AbortSignal;
}

export interface FinishedCall {
  call: ImageCall;
  entries: ImageEntry[];
  replayed: boolean;
  /** Processor time that the backend took for each image; none for a replay. */
  processorMs: number[];
}

/**
 * Before the body is read: looks up the key; checks the remaining quota while the body is read. Where no check can
 * refuse the call, the lookup also runs during the read. `createImageDetection` has to follow at once.
 * @throws AppError when new calls are refused.
 */
export async function openCall(deps: CreateDeps, { caller, idempotencyKey }: CreateImageDetection): Promise<OpenCall> {
  const id = { subject: caller.subject, key: idempotencyKey.key };
  const refusal = new AbortController();
  const holder = findKey(deps.db, id);
  holder.catch((error: unknown) => refusal.abort(error));
  const opened = { id, holder, admission: Promise.resolve(), refused: refusal.signal };
  // A known call passes as well: its body is compared with that of the first.
  if (isSurelyAdmitted(deps, caller) || (await holder)) return opened;
  assertAccepting(deps, caller);
  const admission = unlessReplay(deps, id, assertUnitsLeft(deps, caller));
  admission.catch((error: unknown) => refusal.abort(error));
  return { ...opened, admission };
}

/**
 * One image call under its idempotency key: the first call with a key does the work, the others get its outcome. A call
 * with a known key is no new work: maintenance, an open breaker and a used-up quota do not refuse it.
 * @param reading the body, which is read until `opened.refused` is aborted.
 */
export async function createImageDetection(
  deps: CreateDeps,
  input: CreateImageDetection,
  opened: OpenCall,
  reading: Promise<Upload>,
): Promise<FinishedCall> {
  const { caller, signal } = input;
  const { id } = opened;
  const upload = await uploadOf(opened, reading);
  let holder = await opened.holder;
  const fingerprint = fingerprintOf(upload, input.query);
  const dailyLimit = (caller.limits ?? defaultLimits).images_per_day;
  const uploadedAt = performance.now();
  const waitUntil = uploadedAt + deps.settings.keyWaitMs;
  const work = { ...upload, dailyLimit, deadline: uploadedAt + deps.settings.callMs };
  for (;;) {
    const done = await waitForHolder(deps, holder, { id, fingerprint, deadline: waitUntil, signal });
    if (done) return replay(deps, id, done);
    const scene = await unlessReplay(deps, id, acceptNewCall(deps, caller, upload));
    const worked = scene && (await runImageCall(deps, newKey(input, upload, fingerprint), { ...work, scene }));
    if (worked) return { ...worked, replayed: false };
    holder = await findKey(deps.db, id);
  }
}

/** A refusal takes precedence over a fault of the body; a complete body does not wait for the quota check. */
async function uploadOf({ admission }: OpenCall, reading: Promise<Upload>): Promise<Upload> {
  try {
    return await reading;
  } catch (fault) {
    await admission;
    throw fault;
  }
}

/** The scene of an accepted new call. */
async function acceptNewCall(deps: CreateDeps, caller: Caller, { sceneCode }: Upload): Promise<SceneEntry> {
  const scene = deps.scenes.findEnabled(sceneCode);
  if (!scene) throw fail.sceneUnavailable(sceneCode.slice(0, 64));
  assertAccepting(deps, caller);
  return scene;
}

function newKey({ caller, idempotencyKey, query }: CreateImageDetection, upload: Upload, fingerprint: string): NewKey {
  const taskId = uuidv7();
  return {
    taskId,
    subject: caller.subject,
    key: idempotencyKey.key,
    requestId: idempotencyKey.sent,
    fingerprint,
    sceneCode: upload.sceneCode,
    clientRef: query.client_ref ?? null,
    imagesTotal: upload.images.length,
    reservationId: reservationIdOf(taskId, 1),
  };
}

async function replay(deps: CreateDeps, { subject }: KeyId, { taskId, isDeleted }: KeyHolder): Promise<FinishedCall> {
  if (isDeleted) throw fail.notFound('The image call was deleted.', 'task_not_found');
  const [call, entries] = await Promise.all([findImageCall(deps.db, { subject, taskId }), findImages(deps.db, taskId)]);
  if (!call) throw fail.sysUnavailable('result_expiring');
  deps.signals.callReplayed();
  return { call, entries, replayed: true, processorMs: [] };
}
