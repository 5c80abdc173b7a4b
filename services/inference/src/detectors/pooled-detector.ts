import type { ImageSize } from '@vision/contracts/detection';
import type { Shape } from '@vision/contracts/model-input';
import type { ChromaticSpec, OnnxSpec } from '@vision/contracts/scenes';
import { fitTo, shapeFor } from '../domain/frame-fit.ts';
import type { FrameFit } from '../domain/frame-fit.ts';
import type { Detector } from './detector.ts';
import { scaleTo } from './scale-to.ts';
import type { ThreadPool } from './thread-pool.ts';

/**
 * Longest side of pictures for the chromatic detector: it measures texture in pixels, so the scale must not vary much.
 */
const CHROMATIC_FIT: FrameFit = { kind: 'longest_side', side: 320 };

/** A detector that computes in the threads of this process. @param shapes those of the model that are used */
export function createPooledDetector(
  name: string,
  spec: OnnxSpec | ChromaticSpec,
  pool: ThreadPool,
  shapes: readonly Shape[] = [],
): Detector {
  const fit: FrameFit = spec.kind === 'onnx' ? { kind: 'shapes', shapes, resize: spec.input.resize } : CHROMATIC_FIT;
  const inVideo = spec.kind === 'chromatic' ? 'observe' : 'detect';
  const observe: Detector['observe'] = async (image, turn) =>
    pool.observe({ detector: name, picture: await scaleTo(image, fitTo(image, fit)) }, turn);
  return {
    model: `${name}:${spec.version}`,
    frameFit: fit,
    fit: (original) => fitTo(original, fit),
    costMs: (original) => pool.costMs(inVideo, name, inputShape(original, fit)),
    detect: async (image, { minScore, labels, ...turn }) => {
      const picture = await scaleTo(image, fitTo(image, fit));
      const shape = fit.kind === 'shapes' ? shapeFor(image, fit.shapes) : undefined;
      return pool.detect({ detector: name, picture, shape, minScore, labels }, turn);
    },
    observe: spec.kind === 'chromatic' ? observe : undefined,
  };
}

const inputShape = (original: ImageSize, fit: FrameFit): ImageSize =>
  fit.kind === 'shapes' ? shapeFor(original, fit.shapes) : fitTo(original, fit);
