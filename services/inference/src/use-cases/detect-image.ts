import type { Detection } from '@vision/contracts/inference';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import { asAppError } from '@vision/contracts/errors';
import { runInTurn } from '@vision/shared/upstream/queue-span';
import { ImageRefusedError } from '../domain/image-error.ts';
import { isOrdinary, inspectImage } from '../domain/inspect-image.ts';
import type { ServedScene } from '../detectors/detectors.ts';
import type { DecodedImage } from '../images/create-image-decoder.ts';
import type { Deps } from './deps.ts';

export interface DetectImageInput {
  sceneCode: string;
  bytes: Uint8Array;
  /** Undefined for the lower bound of the scene. */
  minScore: number | undefined;
  /** Owner of the image, for fair queueing. */
  owner: string | undefined;
  signal: AbortSignal;
}

export type DetectImageOutcome =
  | { kind: 'detected'; detection: Detection; cpuMs: number }
  | { kind: 'scene_unknown' }
  /** The image is at fault. */
  | { kind: 'refused'; reason: string; cpuMs: number }
  /** Its time in the queue was too long. */
  | { kind: 'turned_away' }
  /** The backend is at fault. */
  | { kind: 'unavailable'; reason: string };

/** Decodes one image to the size that its scene's model needs, and detects objects in it. */
export async function detectImage(
  deps: Pick<Deps, 'detectors' | 'imageDecoder' | 'detectionGate' | 'imageAnswerMs' | 'signals'>,
  input: DetectImageInput,
): Promise<DetectImageOutcome> {
  const { detectors, signals } = deps;
  const served = detectors.find(input.sceneCode);
  if (!served) return { kind: 'scene_unknown' };
  const scene = served.scene.scene_code;
  const started = performance.now();
  const { cause, ...outcome } = await withinTime(deps, input, (signal) =>
    decodeAndDetect(deps, served, { ...input, signal }),
  );
  signals.imageDetected({ scene, outcome: outcome.kind, durationMs: performance.now() - started });
  if (outcome.kind === 'unavailable') signals.detectorFailed({ scene, reason: outcome.reason, cause });
  return outcome;
}

type Outcome = Exclude<DetectImageOutcome, { kind: 'scene_unknown' }> & { cause?: unknown };

/**
 * An image that is not done in time is turned away before its caller times out, so that the caller sees a full queue
 * and not an outage. Decoding that has begun continues within its own limits.
 */
async function withinTime(
  { imageAnswerMs }: Pick<Deps, 'imageAnswerMs'>,
  { signal }: DetectImageInput,
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const late = AbortSignal.timeout(imageAnswerMs);
  const either = AbortSignal.any([signal, late]);
  try {
    return await unlessAborted(either, work(either));
  } catch (error) {
    if (late.aborted && error === late.reason) return { kind: 'turned_away' };
    throw error;
  }
}

async function decodeAndDetect(
  deps: Pick<Deps, 'imageDecoder' | 'detectionGate'>,
  served: ServedScene,
  input: DetectImageInput,
): Promise<Outcome> {
  try {
    return await inTurn(deps, served, input);
  } catch (error) {
    if (error instanceof ImageRefusedError) return { kind: 'refused', reason: error.reason, cpuMs: error.cpuMs };
    const known = asAppError(error);
    if (known?.kind === 'unavailable') return { kind: 'unavailable', reason: known.reason, cause: known.cause };
    throw error;
  }
}

/** An expensive image is decoded before it takes a slot, so slots are held only for a short time. */
async function inTurn(
  { imageDecoder, detectionGate }: Pick<Deps, 'imageDecoder' | 'detectionGate'>,
  { scene, detector }: ServedScene,
  { bytes, minScore, owner, signal }: DetectImageInput,
): Promise<Outcome> {
  const turn = { owner, signal };
  const inspected = inspectImage(bytes);
  const decode = () => imageDecoder.decode(bytes, (size) => detector.fit(size), { ...turn, inspected });
  const detect = async ({ original, image, cpuMs }: DecodedImage): Promise<Outcome> => {
    const wanted = { minScore: minScore ?? scene.lower_bound, labels: scene.labels, givesPixels: true, ...turn };
    const objects = await detector.detect(image, wanted);
    return { kind: 'detected', detection: { image: original, objects }, cpuMs };
  };
  if (isOrdinary(inspected)) return runInTurn(detectionGate, 'detect', async () => detect(await decode()), turn);
  const decoded = await decode();
  return runInTurn(detectionGate, 'detect', () => detect(decoded), turn);
}
