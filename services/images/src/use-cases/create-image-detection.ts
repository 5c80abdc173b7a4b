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

interface Upload {
  sceneCode: string;
  images: ReceivedImage[];
}

export interface CreateImageDetection {
  caller: Caller;
  idempotencyKey: IdempotencyKey;
  query: CreateQuery;
  /** Reads the body. Rejects when nothing is written any more: with its first fault, or with the reason of `giveUp`. */
  readUpload: (giveUp?: AbortSignal) => Promise<Upload>;
  /** Ends the wait for another call; work that has begun is finished. */
  signal: AbortSignal;
}

export interface FinishedCall {
  call: ImageCall;
  entries: ImageEntry[];
  replayed: boolean;
  /** Processor time that the backend took for each image; none for a replay. */
  processorMs: number[];
}

/**
 * One image call under its idempotency key: the first with a key does the work, the others get its outcome. A call
 * whose key is known is no new work: it passes maintenance, an open breaker and a day that is used up.
 */
export async function createImageDetection(deps: CreateDeps, input: CreateImageDetection): Promise<FinishedCall> {
  const { caller, idempotencyKey, signal } = input;
  const id = { subject: caller.subject, key: idempotencyKey.key };
  const { upload, ...found } = await openCall(deps, id, input);
  let holder = found.holder;
  const fingerprint = fingerprintOf(upload, input.query);
  const dailyLimit = (caller.limits ?? defaultLimits).images_per_day;
  const uploadedAt = performance.now();
  const waitUntil = uploadedAt + deps.settings.keyWaitMs;
  const work = { ...upload, dailyLimit, deadline: uploadedAt + deps.settings.callMs };
  for (;;) {
    const done = await waitForHolder(deps, holder, { id, fingerprint, deadline: waitUntil, signal });
    if (done) return replay(deps, id, done);
    const scene = await unlessReplay(deps, id, () => acceptNewCall(deps, caller, upload));
    const worked = scene && (await runImageCall(deps, newKey(input, upload, fingerprint), { ...work, scene }));
    if (worked) return { ...worked, replayed: false };
    holder = await findKey(deps.db, id);
  }
}

/**
 * Looks the key up, then reads the body: a new call may be refused before that. Where nothing could refuse it, both
 * happen at once; the body of a repeat is read as well.
 */
async function openCall(
  deps: CreateDeps,
  id: KeyId,
  input: CreateImageDetection,
): Promise<{ holder: KeyHolder | undefined; upload: Upload }> {
  const found = findKey(deps.db, id);
  if (isSurelyAdmitted(deps, input.caller)) {
    const lookupFailed = new AbortController();
    found.catch((error: unknown) => lookupFailed.abort(error));
    const upload = await input.readUpload(lookupFailed.signal);
    return { holder: await found, upload };
  }
  const holder = await found;
  return { holder, upload: holder ? await input.readUpload() : await readNewUpload(deps, id, input) };
}

/**
 * Reads the body of a call whose key is not known, and asks beside it whether units are left of the day, unless they
 * surely are. A refusal ends the reading and comes before any fault of the body; a body that is there first does not
 * wait for the answer.
 */
async function readNewUpload(
  deps: CreateDeps,
  id: KeyId,
  { caller, readUpload }: CreateImageDetection,
): Promise<Upload> {
  assertAccepting(deps, caller);
  const refused = new AbortController();
  const admission = unlessReplay(deps, id, () => assertUnitsLeft(deps, caller));
  admission.catch((refusal: unknown) => refused.abort(refusal));
  try {
    return await readUpload(refused.signal);
  } catch (fault) {
    await admission;
    throw fault;
  }
}

/** The scene of a call that may begin now. */
function acceptNewCall(deps: CreateDeps, caller: Caller, { sceneCode }: Upload): SceneEntry {
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
