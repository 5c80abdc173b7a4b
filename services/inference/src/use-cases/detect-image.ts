import type { Detection } from '@vision/shared/contracts/inference';
import { asAppError } from '@vision/shared/errors';
import { ImageRefusedError } from '../domain/image-error.ts';
import type { ServedScene } from '../detectors/detectors.ts';
import type { Deps } from './deps.ts';

export interface DetectImageInput {
  sceneCode: string;
  bytes: Uint8Array;
  /** The scene's lower bound when absent. */
  minScore: number | undefined;
  signal: AbortSignal;
}

export type DetectImageOutcome =
  | { kind: 'detected'; detection: Detection }
  | { kind: 'scene_unknown' }
  /** The picture is at fault. */
  | { kind: 'refused'; reason: string }
  /** The backend is at fault. */
  | { kind: 'unavailable'; reason: string };

/** Decodes one picture to the size its scene's model needs and detects on it. */
export async function detectImage(
  deps: Pick<Deps, 'detectors' | 'pictures' | 'detectionGate' | 'signals'>,
  input: DetectImageInput,
): Promise<DetectImageOutcome> {
  const { detectors, detectionGate, signals } = deps;
  const served = detectors.find(input.sceneCode);
  if (!served) return { kind: 'scene_unknown' };
  const scene = served.scene.scene_code;
  const started = performance.now();
  const { cause, ...outcome } = await detectionGate.run(() => decodeAndDetect(deps, served, input), input.signal);
  signals.imageDetected({ scene, outcome: outcome.kind, durationMs: performance.now() - started });
  if (outcome.kind === 'unavailable') signals.detectorFailed({ scene, reason: outcome.reason, cause });
  return outcome;
}

async function decodeAndDetect(
  { pictures }: Pick<Deps, 'pictures'>,
  { scene, detector }: ServedScene,
  { bytes, minScore, signal }: DetectImageInput,
): Promise<DetectImageOutcome & { cause?: unknown }> {
  try {
    const { original, image } = await pictures.decode(bytes, (size) => detector.fit(size), signal);
    const wanted = { minScore: minScore ?? scene.lower_bound, labels: scene.labels, signal };
    const objects = await detector.detect(image, wanted);
    return { kind: 'detected', detection: { image: original, objects } };
  } catch (error) {
    if (error instanceof ImageRefusedError) return { kind: 'refused', reason: error.reason };
    const known = asAppError(error);
    if (known?.kind === 'unavailable') return { kind: 'unavailable', reason: known.reason, cause: known.cause };
    throw error;
  }
}
