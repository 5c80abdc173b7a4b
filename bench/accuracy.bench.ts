import { evaluateAll } from '../packages/visionctl/src/calibration/fit-calibration.ts';
import { fitCurve } from '../packages/visionctl/src/calibration/fit-curve.ts';
import type { EvaluatedBox } from '../packages/visionctl/src/calibration/evaluate-boxes.ts';
import { atThreshold, calibrationErrorOf, reliabilityOf } from '../packages/visionctl/src/calibration/reliability.ts';
import { curveOf, probabilityOf, toScore } from '@vision/contracts/calibration';
import type { Curve } from '@vision/contracts/calibration';
import { calibrationInForce, detectedClip, evaluatedMosaics } from './accuracy/footage.ts';
import { compareShapes } from './accuracy/shapes.ts';
import { atLeast } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'accuracy';

const RAW_THRESHOLDS = [0.35, 0.4, 0.5, 0.6, 0.7, 0.8];
const THRESHOLDS = [0.35, 0.5, 0.65, 0.8, 0.9];

interface Footage {
  title: string;
  boxes: EvaluatedBox[];
  objects: number;
}

/**
 * What the scores of people mean, on footage that their curve was not fitted on: mosaics of photographs by the curve
 * that ships, which comes from the street clip, and the street clip by a curve from the mosaics. With `SHAPES=1` it
 * compares shapes of the input instead.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  if (process.env['SHAPES'] !== undefined) return { figures: await compareShapes() };
  const { floor, ...inForce } = calibrationInForce();
  const clip = await detectedClip();
  const street = evaluateAll(clip).filter(({ score }) => score >= floor - 0.001);
  const objects = clip.flatMap(({ truth }) => truth.objects).length;
  const mosaics = await evaluatedMosaics();
  const ofMosaics = fitCurve(mosaics.boxes.map(({ score, isRight }) => ({ raw: score, isRight })));
  return {
    figures: [
      ...report({ title: 'mosaics by the curve that ships', ...mosaics }, curveOf({ floor, ...inForce }, 'person')),
      ...report({ title: 'street.mp4 by a curve of the mosaics', boxes: street, objects }, ofMosaics),
    ],
  };
}

function report({ title, boxes, objects }: Footage, curve: Curve): Figure[] {
  const shown = boxes.map((box) => ({ ...box, score: toScore(probabilityOf(curve, box.score)) }));
  const bins = reliabilityOf(shown);
  const line = (list: EvaluatedBox[]) => (threshold: number) => {
    const { recall, precision, shown: count } = atThreshold(list, objects, threshold);
    return `  ${threshold.toFixed(2)}  recall ${percent(recall)}  precision ${percent(precision)}  ${count} boxes`;
  };
  const rows = bins
    .filter(({ count }) => count > 0)
    .map(({ predicted, observed, count }) => `  said ${percent(predicted)}  so ${percent(observed)}  ${count} boxes`);
  console.log(`${title}: ${objects} people, ${boxes.length} boxes`);
  console.log([' raw scores', ...RAW_THRESHOLDS.map(line(boxes))].join('\n'));
  console.log([' calibrated', ...THRESHOLDS.map(line(shown)), ' reliability', ...rows].join('\n'));
  const byDefault = atThreshold(shown, objects, 0.8);
  const gained = byDefault.recall - atThreshold(boxes, objects, 0.6).recall;
  return [
    { name: `${title}: recall at 0.80 above raw 0.60`, value: 100 * gained, unit: 'points', target: atLeast(-2) },
    { name: `${title}: recall at 0.80`, value: 100 * byDefault.recall, unit: '%' },
    { name: `${title}: precision at 0.80`, value: 100 * byDefault.precision, unit: '%', target: atLeast(90) },
    { name: `${title}: calibration error`, value: 100 * calibrationErrorOf(bins), unit: 'points' },
  ];
}

const percent = (share: number) => `${(100 * share).toFixed(1).padStart(5)} %`;
