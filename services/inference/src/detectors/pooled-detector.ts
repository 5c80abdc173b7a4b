import type { Shape } from '@vision/contracts/model-input';
import type { OnnxSpec } from '@vision/contracts/scenes';
import { fitTo, shapeFor } from '../domain/frame-fit.ts';
import type { FrameFit } from '../domain/frame-fit.ts';
import type { Detector } from './detector.ts';
import { scaleTo } from './scale-to.ts';
import type { ThreadPool } from './thread-pool.ts';

/** A detector that computes in the threads of this process. @param shapes those of the model that are used */
export function createPooledDetector(
  name: string,
  { version, input }: OnnxSpec,
  pool: ThreadPool,
  shapes: readonly Shape[],
): Detector {
  const fit: FrameFit = { kind: 'shapes', shapes, resize: input.resize };
  return {
    model: `${name}:${version}`,
    frameFit: fit,
    fit: (original) => fitTo(original, fit),
    costMs: (original) => pool.costMs(name, shapeFor(original, shapes)),
    detect: async (image, { minScore, labels, ...turn }) => {
      const scaled = await scaleTo(image, fitTo(image, fit));
      return pool.detect({ detector: name, image: scaled, shape: shapeFor(image, shapes), minScore, labels }, turn);
    },
  };
}
