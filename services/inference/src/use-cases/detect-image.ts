import type { Detection } from '@vision/shared/contracts/inference';
import { asAppError } from '@vision/shared/errors';
import { ImageRefusedError } from '../detectors/decode-image.ts';
import type { Gate } from '../detectors/gate.ts';
import type { ServedScene } from '../detectors/start-detectors.ts';
import type { Signals } from '../signals.ts';

export interface DetectImageDeps {
  /** Bounds how many pictures are decoded and detected at once. */
  work: Gate;
  signals: Signals;
}

export interface DetectImageInput {
  bytes: Uint8Array;
  served: ServedScene;
  /** The scene's lower bound when absent. */
  minScore: number | undefined;
  signal: AbortSignal;
}

export type DetectImageOutcome =
  | { kind: 'detected'; detection: Detection }
  /** The picture is at fault. */
  | { kind: 'refused'; reason: string }
  /** The backend is at fault. */
  | { kind: 'unavailable'; reason: string; cause: unknown };

/** Decodes one picture to the size its scene's model needs and detects on it. */
export async function detectImage(deps: DetectImageDeps, input: DetectImageInput): Promise<DetectImageOutcome> {
  const started = performance.now();
  const outcome = await deps.work.run(() => decodeAndDetect(input), input.signal);
  deps.signals.imageDetected({
    scene: input.served.scene.scene_code,
    outcome: outcome.kind,
    durationMs: performance.now() - started,
  });
  return outcome;
}

async function decodeAndDetect({ bytes, served, minScore, signal }: DetectImageInput): Promise<DetectImageOutcome> {
  const { scene, detector } = served;
  try {
    const { original, objects } = await detector.detectPicture(bytes, {
      minScore: minScore ?? scene.lower_bound,
      labels: scene.labels,
      signal,
    });
    return { kind: 'detected', detection: { image: original, objects } };
  } catch (error) {
    if (error instanceof ImageRefusedError) return { kind: 'refused', reason: error.reason };
    const known = asAppError(error);
    if (known?.kind === 'unavailable') return { kind: 'unavailable', reason: known.reason, cause: known.cause };
    throw error;
  }
}
