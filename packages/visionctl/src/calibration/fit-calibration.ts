import { ANY_LABEL, curveOf, probabilityOf, toScore } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import { fitCurve, FIT_DEFAULTS } from './fit-curve.ts';
import type { FitOptions, Sample } from './fit-curve.ts';
import { evaluateBoxes } from './evaluate-boxes.ts';
import type { FoundBox, EvaluatedBox } from './evaluate-boxes.ts';
import type { GroundTruth } from './ground-truth.ts';

/** A labelled image, and what the detector found in it, with raw scores. */
export interface DetectedImage {
  truth: GroundTruth;
  found: FoundBox[];
}

export interface CalibrationWanted {
  version: string;
  floor: number;
  /** The labels to measure; what was found of others is left out. */
  labels: readonly string[];
  /** On what, in words for the reader of the registry. */
  measured: string;
  fit?: FitOptions;
}

/**
 * A curve for each label that was found often enough, and one of all boxes together for the labels that were not:
 * an assumption, and it says so.
 *
 * @throws RangeError when all boxes together are too few
 */
export function fitCalibration(images: readonly DetectedImage[], wanted: CalibrationWanted): Calibration {
  const { version, floor, labels: names, measured, fit = FIT_DEFAULTS } = wanted;
  const boxes = evaluateAll(images).filter(({ label, score }) => names.includes(label) && score >= floor);
  const objects = (label: string) => images.flatMap(({ truth }) => truth.objects).filter((one) => one.label === label);
  const labels: Calibration['labels'] = {};
  for (const label of names) {
    const own = boxes.filter((box) => box.label === label);
    const isEnough = own.length >= 2 * fit.minCount && objects(label).length >= fit.minCount;
    if (isEnough) labels[label] = { curve: fitCurve(own.map(toSample), fit), measured: sizeOf(measured, own) };
  }
  const pooled = fitCurve(boxes.map(toSample), fit);
  labels[ANY_LABEL] = { curve: pooled, measured: `not measured: assumed to be like ${sizeOf(measured, boxes)}` };
  return { version, floor, labels };
}

/** All boxes, each evaluated against the labels of its image. */
export const evaluateAll = (images: readonly DetectedImage[]): EvaluatedBox[] =>
  images.flatMap(({ truth, found }) => evaluateBoxes(found, truth));

/** The same boxes with the scores that callers see. */
const calibrated = (boxes: readonly EvaluatedBox[], calibration: Calibration): EvaluatedBox[] =>
  boxes.map((box) => ({ ...box, score: toScore(probabilityOf(curveOf(calibration, box.label), box.score)) }));

/**
 * Boxes with calibrated scores, each by curves that were fitted without its image: the first half of the images is
 * evaluated by the curves of the second and the other way round. Halves, because neighbours are often of one scene.
 *
 * @throws RangeError when one half alone has too few boxes
 */
export function crossCalibrated(images: readonly DetectedImage[], wanted: CalibrationWanted): EvaluatedBox[] {
  const middle = Math.ceil(images.length / 2);
  const halves = [images.slice(0, middle), images.slice(middle)];
  return halves.flatMap((half, index) => {
    const others = halves[1 - index] ?? [];
    const boxes = evaluateAll(half).filter(
      ({ label, score }) => wanted.labels.includes(label) && score >= wanted.floor,
    );
    return calibrated(boxes, fitCalibration(others, wanted));
  });
}

const toSample = ({ score, isRight }: EvaluatedBox): Sample => ({ raw: score, isRight });

const sizeOf = (measured: string, boxes: readonly EvaluatedBox[]) =>
  `${measured} (${boxes.length} boxes, ${boxes.filter(({ isRight }) => isRight).length} right)`;
