import { join } from 'node:path';
import { evaluateAll } from '../packages/visionctl/src/calibration/fit-calibration.ts';
import type { EvaluatedBox } from '../packages/visionctl/src/calibration/evaluate-boxes.ts';
import { atThreshold } from '../packages/visionctl/src/calibration/reliability.ts';
import { createLogger } from '@vision/shared/logger';
import { loadScenes } from '@vision/shared/scenes';
import type { Scenes } from '@vision/shared/scenes';
import { createDetectors } from '../services/inference/src/detectors/detectors.ts';
import type { Detectors } from '../services/inference/src/detectors/detectors.ts';
import type { RgbImage } from '../services/inference/src/domain/rgb-image.ts';
import { labelledImages } from './accuracy/labelled-images.ts';
import type { LabelledImage } from './accuracy/labelled-images.ts';
import { atLeast, median } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'eight-bit';

const root = join(import.meta.dirname, '..');
const modelsDir = join(root, 'services/inference/models');
const WARM_UP = 5;

/**
 * The int8 model beside the one in floating point, each by its own calibration: the same labelled pictures by both, in
 * turn. `MOSAICS` is a folder that `bench/accuracy/make-mosaics.ts` filled, `PHOTOGRAPHS` one with what it was made of.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const scenes = loadScenes(join(root, 'config/scenes.json'));
  const entries = scenes.entries.map((scene) =>
    scene.detector === 'nanodet-416' ? { ...scene, detector: 'nanodet-416-int8' } : scene,
  );
  const models = { eight: await start({ ...scenes, entries }), float: await start(scenes) };
  const folders = { mosaics: process.env['MOSAICS'], photographs: process.env['PHOTOGRAPHS'] };
  const figures: Figure[] = [];
  for (const { title, images } of await labelledImages(folders))
    figures.push(...(await compare(title, images, models)));
  await Promise.all([models.eight.stop(), models.float.stop()]);
  return { figures };
}

async function start(scenes: Scenes): Promise<Detectors> {
  const detectors = createDetectors({ scenes, modelsDir, threads: 1, logger: createLogger('bench', 'silent') });
  await detectors.start();
  return detectors;
}

type Which = 'eight' | 'float';

async function compare(title: string, images: LabelledImage[], models: Record<Which, Detectors>): Promise<Figure[]> {
  const looks = { eight: lookerOf(models.eight), float: lookerOf(models.float) };
  const tookMs: Record<Which, number[]> = { eight: [], float: [] };
  const found: Record<Which, Awaited<ReturnType<(typeof looks)['eight']>>[]> = { eight: [], float: [] };
  for (const [index, image] of images.entries())
    for (const which of ['eight', 'float'] as const) {
      const before = process.cpuUsage();
      found[which].push(await looks[which](image.picture));
      const { user, system } = process.cpuUsage(before);
      if (index >= WARM_UP) tookMs[which].push((user + system) / 1000);
    }
  const objects = images.flatMap(({ truth }) => truth.objects).length;
  const evaluate = (which: Which) =>
    evaluateAll(
      images.map(({ truth, toCorners }, index) => ({ truth, found: (found[which][index] ?? []).map(toCorners) })),
    );
  const [eight, float] = [measure(evaluate('eight'), objects), measure(evaluate('float'), objects)];
  return [
    { name: `${title}: processor time of an image, int8`, value: median(tookMs.eight), unit: 'ms' },
    { name: `${title}: the same, floating point`, value: median(tookMs.float), unit: 'ms' },
    ...namedAs(`${title}, int8`, eight),
    ...namedAs(`${title}, floating point`, float),
    ...differences(title, eight, float),
  ];
}

/** In percent. */
interface Measured {
  recall: number;
  precision: number;
  average: number;
}

function measure(boxes: EvaluatedBox[], objects: number): Measured {
  const { recall, precision } = atThreshold(boxes, objects, 0.8);
  return { recall: 100 * recall, precision: 100 * precision, average: 100 * averagePrecision(boxes, objects) };
}

const namedAs = (title: string, { recall, precision, average }: Measured): Figure[] => [
  { name: `${title}: recall at 0.80`, value: recall, unit: '%' },
  { name: `${title}: precision at 0.80`, value: precision, unit: '%' },
  { name: `${title}: average precision`, value: average, unit: '%' },
];

/** What int8 has more of, below zero when less. It may become the default when every target is met. */
const differences = (title: string, eight: Measured, float: Measured): Figure[] => [
  gained(`${title}: recall gained`, eight.recall - float.recall, -1),
  gained(`${title}: precision gained`, eight.precision - float.precision, 0),
  gained(`${title}: average precision gained`, eight.average - float.average, -0.5),
];

const gained = (name: string, value: number, target: number): Figure => ({
  name,
  value,
  unit: 'points',
  target: atLeast(target),
  floor: atLeast(target - 1),
});

const lookerOf = (detectors: Detectors) => {
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene person_vehicle is not served');
  const options = { minScore: served.scene.lower_bound, labels: ['person'] };
  return (picture: RgbImage) => served.detector.detect(picture, options);
};

/** Mean over all objects of the precision down to the box that found each; 0 for those that none found. */
function averagePrecision(boxes: EvaluatedBox[], objects: number): number {
  let right = 0;
  let sum = 0;
  for (const [index, { isRight }] of boxes.toSorted((a, b) => b.score - a.score).entries())
    if (isRight) sum += (right += 1) / (index + 1);
  return sum / objects;
}
