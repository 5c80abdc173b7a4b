import { expect, test } from '@jest/globals';
import { RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration, Curve } from '@vision/contracts/calibration';
import { calibrationFor } from './calibration-for.ts';

const entry = (middle: number) => {
  const curve: Curve = [
    [0, 0],
    [0.5, middle],
    [1, 1],
  ];
  return { curve, measured: 'made up' };
};
const of = (labels: Calibration['labels'], version = '1'): Calibration => ({ version, floor: 0.1, labels });

const job = { model: 'fire:1', calibration: of({ fire: entry(0.2) }) };

test('with its model a job keeps its curves, and labels that its scene got later have those of the detector', () => {
  const detector = { model: 'fire:1', calibration: of({ fire: entry(0.9), smoke: entry(0.4) }, '2') };
  expect(calibrationFor(job, detector)).toEqual(of({ fire: entry(0.2), smoke: entry(0.4) }));
});

test('a curve for any label of the job holds for labels that its scene got later', () => {
  const calibration = of({ '*': entry(0.3) });
  const detector = { model: 'fire:1', calibration: of({ smoke: entry(0.4) }, '2') };
  expect(calibrationFor({ ...job, calibration }, detector)).toBe(calibration);
});

test('under another model a job has the curves of the detector, unless it never had any', () => {
  const detector = { model: 'fire:2', calibration: of({ fire: entry(0.9) }, '2') };
  expect(calibrationFor(job, detector)).toBe(detector.calibration);
  expect(calibrationFor({ model: undefined, calibration: RAW_SCORES }, detector)).toBe(RAW_SCORES);
});
