import type { Readable } from 'node:stream';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import type { SceneEntry } from '@vision/contracts/scenes';
import { crashPoint } from '@vision/shared/crash-point';
import { outcomeOf } from '@vision/shared/upstream/classify';
import { isTimeout } from '@vision/shared/upstream/error-type';
import { imageFaultOf } from '../domain/image-call.ts';
import type { Claim, ImageEntry, ImageOutcome } from '../domain/image-call.ts';
import type { ImageType } from '../domain/image-type.ts';
import { pictureKey } from '../domain/picture-key.ts';
import type { Deps } from './deps.ts';

/** An uploaded image that waits in the spool. */
export interface ReceivedImage {
  sha256: string;
  crc32: number;
  bytes: number;
  contentType: ImageType;
  read: () => Readable;
}

/** The common part of all images of one call. */
export interface CallWork {
  call: Pick<Claim, 'taskId' | 'subject'>;
  scene: SceneEntry;
  /** Resolves when the key is claimed and the units are reserved; no image is stored or counted before. */
  confirmed: Promise<void>;
  /** Ends the work on all images; its reason is thrown. */
  signal: AbortSignal;
  /** Aborted when the store or the backend timed out: images that have not begun fail with it at once. */
  stalled: AbortController;
  /** Aborted when the time of the call has expired: images in progress fail with it. */
  late: AbortController;
}

export interface NumberedImage {
  seq: number;
  image: ReceivedImage;
}

/** Outcome of an image, and the processor time that the backend spent on it. */
export interface ProcessedImage {
  entry: ImageEntry;
  processorMs: number;
}

type ImageDeps = Pick<Deps, 'inference' | 'ownPrefix' | 'signals' | 'store'>;

/**
 * Relays and detects one image. A fault of the store, the backend or the image is its outcome; any other error is
 * thrown.
 */
export async function processImage(deps: ImageDeps, work: CallWork, numbered: NumberedImage): Promise<ProcessedImage> {
  work.signal.throwIfAborted();
  const { seq, image } = numbered;
  const { outcome, processorMs = 0 } = work.stalled.signal.aborted
    ? { outcome: failedOutcome(deps, { work, seq }, { cause: work.stalled.signal.reason, objectKey: undefined }) }
    : await relayAndDetect(deps, work, numbered);
  const { sha256, bytes, contentType } = image;
  return { entry: { seq, sha256, bytes, contentType, outcome }, processorMs };
}

/**
 * Sends the image to the backend at once, and to the store as soon as the call is confirmed. Without a stored image
 * there is no result, so a failed relay aborts the detection.
 */
async function relayAndDetect(
  deps: ImageDeps,
  work: CallWork,
  { seq, image }: NumberedImage,
): Promise<{ outcome: ImageOutcome; processorMs?: number }> {
  const { call, scene, signal, stalled, late } = work;
  const ending = AbortSignal.any([signal, late.signal]);
  const { bytes, contentType } = image;
  const relayFailed = new AbortController();
  const relay = relayOnceConfirmed(deps, work, { numbered: { seq, image }, ending });
  const detection = deps.inference.detect({
    owner: call.subject,
    sceneCode: scene.scene_code,
    minScore: scene.lower_bound,
    picture: { stream: image.read(), bytes },
    contentType,
    signal: AbortSignal.any([ending, relayFailed.signal]),
  });
  const noteStall = (error: unknown) => {
    if (isStall(error)) stalled.abort(error);
  };
  relay.catch(noteStall);
  relay.catch((error: unknown) => relayFailed.abort(error));
  detection.catch(noteStall);
  const [stored, detected] = await Promise.allSettled([relay, detection]);
  signal.throwIfAborted();
  const processorMs = detected.status === 'fulfilled' ? detected.value.processorMs : 0;
  const failed = (cause: unknown, key?: string) => ({
    outcome: failedOutcome(deps, { work, seq }, { cause, objectKey: key }),
    processorMs,
  });
  if (stored.status === 'rejected') return failed(stored.reason);
  const objectKey = stored.value;
  if (detected.status === 'rejected') return failed(detected.reason, objectKey);
  if (detected.value.outcome === 'unreadable') return failed(detected.value.error, objectKey);
  deps.signals.imageSucceeded();
  const { image: size, objects } = detected.value.detection;
  const kept = objects.filter(({ score }) => score >= scene.lower_bound).sort((a, b) => b.score - a.score);
  return { outcome: { status: 'succeeded', objectKey, size, objects: kept }, processorMs };
}

/** @returns the key of the stored image */
async function relayOnceConfirmed(
  { ownPrefix, store }: Pick<Deps, 'ownPrefix' | 'store'>,
  { call, confirmed }: CallWork,
  { numbered: { seq, image }, ending }: { numbered: NumberedImage; ending: AbortSignal },
): Promise<string> {
  await unlessAborted(ending, confirmed);
  const objectKey = pictureKey(await ownPrefix(), call.taskId, seq);
  await store.put({ key: objectKey, body: image.read(), contentType: image.contentType, known: image, signal: ending });
  crashPoint('images.picture_stored');
  return objectKey;
}

/** Whether the store or the backend timed out. A refusal arrives at once and may concern only this image. */
const isStall = (error: unknown): boolean => isTimeout(outcomeOf(error));

function failedOutcome(
  { signals }: ImageDeps,
  { work, seq }: { work: CallWork; seq: number },
  { cause, objectKey }: { cause: unknown; objectKey: string | undefined },
): ImageOutcome {
  const errorCode = imageFaultOf(cause);
  if (errorCode === undefined) throw cause;
  signals.imageFailed({ taskId: work.call.taskId, seq, code: errorCode, cause });
  return { status: 'failed', objectKey, errorCode };
}
