import type { ChromaticSpec, OnnxSpec } from '@vision/shared/contracts/scenes';
import { placeImage } from '../domain/placement.ts';
import type { Detector } from './detector.ts';
import { scaleTo } from './scale-to.ts';
import type { ThreadPool } from './thread-pool.ts';

/**
 * Longest side of pictures for the chromatic detector: it measures texture in pixels, so the scale must not vary much.
 */
const CHROMATIC_SIDE = 320;

/** A detector that computes in the threads of this process. */
export function createPooledDetector(name: string, spec: OnnxSpec | ChromaticSpec, pool: ThreadPool): Detector {
  const fit = spec.kind === 'onnx' ? fitOnnx(spec) : fitChromatic;
  return {
    model: `${name}:${spec.version}`,
    fit,
    detect: async (image, { minScore, labels, ...turn }) => {
      const picture = await scaleTo(image, fit(image));
      return pool.detect({ detector: name, picture, minScore, labels }, turn);
    },
  };
}

const fitOnnx =
  (spec: OnnxSpec): Detector['fit'] =>
  (original) => {
    const { width, height } = placeImage(original, spec.input);
    return { width, height };
  };

const fitChromatic: Detector['fit'] = ({ width, height }) => {
  const scale = Math.min(1, CHROMATIC_SIDE / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
};
