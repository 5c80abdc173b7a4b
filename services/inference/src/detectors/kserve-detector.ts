import type { Shape } from '@vision/contracts/model-input';
import type { KserveSpec } from '@vision/contracts/scenes';
import { fail } from '@vision/contracts/errors';
import { infer, ModelServerError } from '../clients/infer.ts';
import { ModelOutputError } from '../domain/candidate.ts';
import { decodeOutputs } from '../domain/decode-outputs.ts';
import { fitTo, inputFor } from '../domain/frame-fit.ts';
import { placeImage } from '../domain/placement.ts';
import { toTensor } from '../domain/to-tensor.ts';
import type { Detector } from './detector.ts';
import { scaleTo } from './scale-to.ts';

/** What is left to this process when a server computes: scaling, the tensor, and its way out. An estimate. */
const SCALING_MS = 10;

/**
 * A detector whose model runs on a server that speaks the Open Inference Protocol v2.
 *
 * @param shapes those of the model that are used; the server has to accept them
 */
export function createKserveDetector(spec: KserveSpec, shapes: readonly Shape[] = spec.input.shapes): Detector {
  const frameFit = { kind: 'shapes', shapes, resize: spec.input.resize } as const;
  const detect: Detector['detect'] = async (image, { minScore, labels, signal }) => {
    const input = inputFor(image, { ...spec.input, shapes });
    const placement = placeImage(image, input);
    const scaled = await scaleTo(image, placement);
    try {
      const outputs = await infer(spec, toTensor(scaled, placement, input), signal);
      return decodeOutputs(outputs, { ...spec, input }, { placement, minScore, labels });
    } catch (error) {
      if (error instanceof ModelServerError || error instanceof ModelOutputError) {
        throw fail.upstreamDown('model_server_failed', error);
      }
      throw error;
    }
  };
  return {
    model: spec.version === undefined ? spec.model : `${spec.model}:${spec.version}`,
    frameFit,
    fit: (original) => fitTo(original, frameFit),
    costMs: () => SCALING_MS,
    detect,
  };
}
