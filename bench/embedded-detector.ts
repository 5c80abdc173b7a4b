import { join } from 'node:path';
import { createLogger } from '@vision/shared/logger';
import { loadScenes } from '@vision/shared/scenes';
import type { Scenes } from '@vision/shared/scenes';
import { createDetectors } from '../services/inference/src/detectors/detectors.ts';
import type { Detectors, ServedScene } from '../services/inference/src/detectors/detectors.ts';

const root = join(import.meta.dirname, '..');

/** The scenes that ship. */
export const shippedScenes = (): Scenes => loadScenes(join(root, 'config/scenes.json'));

/** The detectors that ship in this process, each detection on one thread of so many, and the scene person_vehicle. */
export async function startDetectors(
  threads: number,
  scenes = shippedScenes(),
): Promise<{ detectors: Detectors; served: ServedScene }> {
  const detectors = createDetectors({
    scenes,
    modelsDir: join(root, 'services/inference/models'),
    threads,
    logger: createLogger('bench', 'silent'),
  });
  await detectors.start();
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene person_vehicle is not served');
  return { detectors, served };
}
