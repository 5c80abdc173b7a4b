import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluateAll } from '../packages/visionctl/src/calibration/fit-calibration.ts';
import type { EvaluatedBox } from '../packages/visionctl/src/calibration/evaluate-boxes.ts';
import { atThreshold } from '../packages/visionctl/src/calibration/reliability.ts';
import { createLogger } from '@vision/shared/logger';
import { loadScenes } from '@vision/shared/scenes';
import { createDetectors } from '../services/inference/src/detectors/detectors.ts';
import type { Detectors } from '../services/inference/src/detectors/detectors.ts';
import type { RgbImage } from '../services/inference/src/domain/rgb-image.ts';
import { labelledImages } from './accuracy/labelled-images.ts';
import type { LabelledImage } from './accuracy/labelled-images.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'eight-bit';

const root = join(import.meta.dirname, '..');
const modelsDir = join(root, 'services/inference/models');
const WARM_UP = 5;

/**
 * The model of eight bits beside the published one in floating point: the same labelled pictures by both, in turn.
 * `MOSAICS` is a folder that `bench/accuracy/make-mosaics.ts` filled.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const scenes = loadScenes(join(root, 'config/scenes.json'));
  const shipped = scenes.detectors['nanodet-416'];
  if (shipped?.kind !== 'onnx') throw new Error('the embedded model is missing');
  const folder = await mkdtemp(join(tmpdir(), 'vision-models-'));
  const start = async (from: string) => {
    const logger = createLogger('bench', 'silent');
    const detectors = createDetectors({ scenes, modelsDir: from, threads: 1, logger });
    await detectors.start();
    return detectors;
  };
  try {
    // The registry names one file: the other model lies under its name in another folder.
    await copyFile(join(modelsDir, 'nanodet-416-int8.onnx'), join(folder, shipped.file));
    const models = { eight: await start(folder), float: await start(modelsDir) };
    const figures: Figure[] = [];
    for (const { title, images } of await labelledImages(process.env['MOSAICS']))
      figures.push(...(await compare(title, images, models)));
    await Promise.all([models.eight.stop(), models.float.stop()]);
    return { figures };
  } finally {
    await rm(folder, { recursive: true });
  }
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
  const [eight, float] = [evaluate('eight'), evaluate('float')];
  return [
    { name: `${title}: processor time of an image, int8`, value: median(tookMs.eight), unit: 'ms' },
    { name: `${title}: the same, floating point`, value: median(tookMs.float), unit: 'ms' },
    ...scoresOf(`${title}, int8`, eight, objects),
    ...scoresOf(`${title}, floating point`, float, objects),
  ];
}

const lookerOf = (detectors: Detectors) => {
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene person_vehicle is not served');
  const options = { minScore: served.scene.lower_bound, labels: ['person'] };
  return (picture: RgbImage) => served.detector.detect(picture, options);
};

function scoresOf(title: string, boxes: EvaluatedBox[], objects: number): Figure[] {
  const { recall, precision } = atThreshold(boxes, objects, 0.8);
  return [
    { name: `${title}: recall at 0.80`, value: 100 * recall, unit: '%' },
    { name: `${title}: precision at 0.80`, value: 100 * precision, unit: '%' },
    { name: `${title}: average precision`, value: 100 * averagePrecision(boxes, objects), unit: '%' },
  ];
}

/** Mean over all objects of the precision down to the box that found each; 0 for those that none found. */
function averagePrecision(boxes: EvaluatedBox[], objects: number): number {
  let right = 0;
  let sum = 0;
  for (const [index, { isRight }] of boxes.toSorted((a, b) => b.score - a.score).entries())
    if (isRight) sum += (right += 1) / (index + 1);
  return sum / objects;
}
