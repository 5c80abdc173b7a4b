import type { KserveSpec } from '@vision/shared/contracts/scenes';
import { fail } from '@vision/shared/errors';
import { infer, ModelServerError } from '../clients/infer.ts';
import { ModelOutputError } from '../domain/candidate.ts';
import { decodeOutputs } from '../domain/decode-outputs.ts';
import { placeImage } from '../domain/placement.ts';
import { toTensor } from '../domain/to-tensor.ts';
import type { Detector } from './detector.ts';
import { scaleTo } from './scale-to.ts';

/** A detector whose model runs on a server that speaks the Open Inference Protocol v2. */
export function createKserveDetector(spec: KserveSpec): Detector {
  const fit: Detector['fit'] = (original) => {
    const { width, height } = placeImage(original, spec.input);
    return { width, height };
  };
  const detect: Detector['detect'] = async (image, { minScore, labels, signal }) => {
    const placement = placeImage(image, spec.input);
    const scaled = await scaleTo(image, placement);
    try {
      const outputs = await infer(spec, toTensor(scaled, placement, spec.input), signal);
      return decodeOutputs(outputs, spec, { placement, minScore, labels });
    } catch (error) {
      if (error instanceof ModelServerError || error instanceof ModelOutputError) {
        throw fail.upstreamDown('model_server_failed', error);
      }
      throw error;
    }
  };
  return { model: spec.version === undefined ? spec.model : `${spec.model}:${spec.version}`, fit, detect };
}
