import type { Scenes } from '@vision/shared/scenes';
import type { Shape } from '@vision/contracts/model-input';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import type { Detected } from '../../services/inference/src/tracking/track.ts';
import { shippedScenes, startDetectors } from '../embedded-detector.ts';

/** Finds people as a job does: all that the scene stores. */
export type Detect = (picture: RgbImage) => Promise<Detected[]>;

/** Lends the embedded detector, as it ships or with one shape of input for all pictures. */
export async function withDetector<T>(work: (detect: Detect) => Promise<T>, shape?: Shape): Promise<T> {
  const { detectors, served } = await startDetectors(1, withShape(shippedScenes(), shape));
  const options = { minScore: served.scene.lower_bound, labels: ['person'] };
  return work((picture) => served.detector.detect(picture, options)).finally(() => detectors.stop());
}

function withShape(scenes: Scenes, shape?: Shape): Scenes {
  if (!shape) return scenes;
  const detectors = Object.entries(scenes.detectors).map(([name, spec]): [string, typeof spec] =>
    spec.kind === 'onnx' ? [name, { ...spec, input: { ...spec.input, shapes: [shape] } }] : [name, spec],
  );
  return { ...scenes, detectors: Object.fromEntries(detectors) };
}
