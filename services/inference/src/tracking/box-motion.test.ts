import { expect, test } from '@jest/globals';
import { boxOf, bufferedIou, correctMotion, predictMotion, startMotion, uncertainty } from './box-motion.ts';

const ASPECT = 4 / 3;
const box = (cx: number, height = 0.2) => ({ cx, cy: 0.5, width: 0.06, height });

test('boxes that stand apart share nothing until they are grown', () => {
  expect(bufferedIou(box(0.3), box(0.38), 0)).toBe(0);
  expect(bufferedIou(box(0.3), box(0.38), 0.5)).toBeGreaterThan(0.1);
});

test('growing does not change how much equal boxes share', () => {
  expect(bufferedIou(box(0.3), box(0.3), 0)).toBeCloseTo(1);
  expect(bufferedIou(box(0.3), box(0.3), 0.8)).toBeCloseTo(1);
});

test('where an object is gets less certain while nothing is found of it, and more certain with each detection', () => {
  let motion = startMotion(box(0.3), ASPECT);
  for (let frame = 1; frame <= 5; frame += 1) {
    const predicted = predictMotion(motion, 0.2, ASPECT);
    expect(uncertainty(predicted)).toBeGreaterThan(uncertainty(motion));
    motion = correctMotion(predicted, box(0.3 + 0.01 * frame), 0.9, ASPECT);
    expect(uncertainty(motion)).toBeLessThan(uncertainty(predicted));
  }
  const afterOne = predictMotion(motion, 0.2, ASPECT);
  const afterFive = predictMotion(motion, 1, ASPECT);
  expect(uncertainty(afterFive)).toBeGreaterThan(uncertainty(afterOne));
});

test('an object seen once may be anywhere near a moment later, one seen for a second may not', () => {
  const fresh = startMotion(box(0.3), ASPECT);
  let known = fresh;
  for (let frame = 1; frame <= 5; frame += 1) {
    known = correctMotion(predictMotion(known, 0.2, ASPECT), box(0.3), 0.9, ASPECT);
  }
  expect(uncertainty(predictMotion(fresh, 0.2, ASPECT))).toBeGreaterThan(
    3 * uncertainty(predictMotion(known, 0.2, ASPECT)),
  );
});

test('a box that a detector is unsure of moves the object less than a sure one', () => {
  const predicted = predictMotion(startMotion(box(0.3), ASPECT), 0.2, ASPECT);
  const known = correctMotion(predicted, box(0.3), 0.9, ASPECT);
  const next = predictMotion(known, 0.2, ASPECT);
  const [sure, unsure] = [0.9, 0.2].map((score) => boxOf(correctMotion(next, box(0.34), score, ASPECT)).cx);
  expect(unsure).toBeLessThan(sure ?? 0);
});

test('an object that comes nearer keeps growing boxes without running away in size while it is hidden', () => {
  let motion = startMotion(box(0.3, 0.2), ASPECT);
  for (let frame = 1; frame <= 10; frame += 1) {
    motion = correctMotion(predictMotion(motion, 0.2, ASPECT), box(0.3, 0.2 * 1.05 ** frame), 0.9, ASPECT);
  }
  const seen = boxOf(motion).height;
  expect(seen).toBeGreaterThan(0.2 * 1.05 ** 8);
  expect(boxOf(predictMotion(motion, 2, ASPECT)).height).toBeCloseTo(seen);
});
