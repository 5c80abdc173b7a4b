import { join } from 'node:path';
import { createLogger } from '@vision/shared/logger';
import { loadScenes } from '@vision/shared/scenes';
import { createDetectors } from '../../services/inference/src/detectors/detectors.ts';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import type { Detected } from '../../services/inference/src/tracking/track.ts';

const root = join(import.meta.dirname, '../..');

/** Finds people as a job does: all that the scene stores. */
export type Detect = (picture: RgbImage) => Promise<Detected[]>;

/** Lends the embedded detector. */
export async function withDetector<T>(work: (detect: Detect) => Promise<T>): Promise<T> {
  const detectors = createDetectors({
    scenes: loadScenes(join(root, 'config/scenes.json')),
    modelsDir: join(root, 'services/inference/models'),
    threads: 1,
    intraOpThreads: 1,
    logger: createLogger('bench', 'silent'),
  });
  await detectors.start();
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene person_vehicle is not served');
  const options = { minScore: served.scene.lower_bound, labels: ['person'] };
  return work((picture) => served.detector.detect(picture, options)).finally(() => detectors.stop());
}
