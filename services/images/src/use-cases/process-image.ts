import type { Readable } from 'node:stream';
import type { SceneEntry } from '@vision/shared/contracts/scenes';
import { crashPoint } from '@vision/shared/crash-point';
import { CallError } from '@vision/shared/http/call';
import type { InferenceClient } from '@vision/shared/inference-client';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import type { Claim } from '../db/idempotency-keys.ts';
import { imageFaultOf } from '../domain/image-call.ts';
import type { ImageEntry, ImageOutcome } from '../domain/image-call.ts';
import type { ImageType } from '../domain/image-type.ts';
import { pictureKey } from '../domain/picture-key.ts';
import { createSlots } from '../domain/slots.ts';
import type { Slots } from '../domain/slots.ts';
import type { Signals } from '../signals.ts';

/** An uploaded image that waits on disk. */
export interface ReceivedImage {
  sha256: string;
  bytes: number;
  contentType: ImageType;
  read: () => Readable;
}

export interface ProcessDeps {
  store: Pick<ObjectStore, 'put' | 'remove'>;
  inference: Pick<InferenceClient, 'detect' | 'assertAccepting' | 'breakerState'>;
  signals: Signals;
  /** Images that are worked on at once, shared by all calls of the process. */
  slots: Slots;
  imagesPerCallAtOnce: number;
}

export interface ImageWork {
  claim: Claim;
  scene: SceneEntry;
  images: ReceivedImage[];
  /** Ends the work on all images; its reason is thrown. */
  signal: AbortSignal;
}

/** What the images of one call have in common. `silence` is aborted once store or backend left one of them without an answer. */
interface CallWork extends ImageWork {
  silence: AbortController;
}

/**
 * Relays and detects the images of one call, some at a time; every image has its own outcome.
 * @throws AppError OP-TASK-BREAKER-OPEN when the backend is not asked at all.
 */
export async function processImages(deps: ProcessDeps, input: ImageWork): Promise<ImageEntry[]> {
  const work = { ...input, silence: new AbortController() };
  const tried = await tryBackend(deps, work);
  const ofCall = createSlots(deps.imagesPerCallAtOnce);
  const others = work.images.slice(tried.length).map((_image, index) => index + tried.length);
  const settled = await Promise.allSettled(
    others.map((seq) => ofCall.run(() => deps.slots.run(() => processImage(deps, work, seq)))),
  );
  work.signal.throwIfAborted();
  return [...tried, ...settled.map(entryOf)];
}

/**
 * While the breaker is half-open one image tries and would have the others of its call refused: they follow when it is decided.
 * Where another call is trying already, this one is refused as a whole.
 */
async function tryBackend(deps: ProcessDeps, work: CallWork): Promise<ImageEntry[]> {
  const { inference, slots } = deps;
  const entries: ImageEntry[] = [];
  while (inference.breakerState('detect') !== 'closed' && entries.length < work.images.length) {
    if (entries.length > 0 && inference.breakerState('detect') === 'open') break;
    const entry = await slots.run(() => {
      if (entries.length === 0) inference.assertAccepting('detect');
      return processImage(deps, work, entries.length);
    });
    entries.push(entry);
  }
  return entries;
}

function entryOf(result: PromiseSettledResult<ImageEntry>): ImageEntry {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/**
 * The picture goes to the store and to the backend at the same time. Without a stored picture there is no result, so
 * a failed relay ends the detection.
 */
async function processImage(deps: ProcessDeps, work: CallWork, seq: number): Promise<ImageEntry> {
  const { claim, scene, images, signal, silence } = work;
  const image = images[seq] as ReceivedImage;
  signal.throwIfAborted();
  const { sha256, bytes, contentType } = image;
  const entry = (outcome: ImageOutcome): ImageEntry => ({ seq, sha256, bytes, contentType, outcome });
  if (silence.signal.aborted) {
    const cause = silence.signal.reason as unknown;
    return entry(failedOutcome(deps, { claim, seq }, { cause, objectKey: undefined }));
  }
  const objectKey = pictureKey(claim.task_id, seq);
  const relayFailed = new AbortController();
  const relay = deps.store
    .put({ key: objectKey, body: image.read(), contentType, known: { bytes, sha256 }, signal })
    .then(() => crashPoint('images.picture_stored'));
  relay.catch((error: unknown) => {
    if (isSilence(error)) silence.abort(error);
    relayFailed.abort(error);
  });
  const detection = deps.inference.detect({
    sceneCode: scene.scene_code,
    minScore: scene.lower_bound,
    picture: { stream: image.read(), bytes },
    contentType,
    signal: AbortSignal.any([signal, relayFailed.signal]),
  });
  detection.catch((error: unknown) => {
    if (isSilence(error)) silence.abort(error);
  });
  const [stored, detected] = await Promise.allSettled([relay, detection]);
  signal.throwIfAborted();
  const failed = [stored, detected].find((result) => result.status === 'rejected');
  if (failed) return entry(failedOutcome(deps, { claim, seq }, { cause: failed.reason, objectKey: keptKey(stored) }));
  const { image: size, objects } = (detected as PromiseFulfilledResult<Awaited<typeof detection>>).value;
  deps.signals.imageSucceeded();
  const kept = objects.filter(({ score }) => score >= scene.lower_bound).sort((a, b) => b.score - a.score);
  return entry({ status: 'succeeded', objectKey, size, objects: kept });

  function keptKey({ status }: PromiseSettledResult<void>): string | undefined {
    return status === 'fulfilled' ? objectKey : undefined;
  }
}

/** The next image would wait as long for nothing; a refusal is known at once and may be of this picture only. */
function isSilence(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof CallError) return cause.reason === 'timeout';
  return cause instanceof Error && 'code' in cause && cause.code === 'ETIMEDOUT';
}

function failedOutcome(
  { signals }: ProcessDeps,
  { claim, seq }: { claim: Claim; seq: number },
  { cause, objectKey }: { cause: unknown; objectKey: string | undefined },
): ImageOutcome {
  const errorCode = imageFaultOf(cause);
  if (errorCode === undefined) throw cause;
  signals.imageFailed({ taskId: claim.task_id, seq, code: errorCode, cause });
  return { status: 'failed', objectKey, errorCode };
}
