import { RAW_SCORES } from '@vision/contracts/calibration';
import type { HealthReply } from '@vision/contracts/inference';
import type { Deps } from './deps.ts';

/** The scenes whose model can answer now. */
export async function getHealth({ detectors }: Pick<Deps, 'detectors'>): Promise<HealthReply['scenes']> {
  const served = await detectors.served();
  return served.map(({ scene, detector }) => ({
    scene_code: scene.scene_code,
    labels: scene.labels,
    lower_bound: scene.lower_bound,
    model: detector.model,
    ...(detector.calibration === RAW_SCORES ? {} : { calibration: detector.calibration.version }),
  }));
}
