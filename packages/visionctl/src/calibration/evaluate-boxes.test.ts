import { expect, test } from '@jest/globals';
import { evaluateBoxes } from './evaluate-boxes.ts';
import { parseGroundTruth } from './ground-truth.ts';
import { atThreshold, calibrationErrorOf, reliabilityOf } from './reliability.ts';

const coco = {
  images: [{ id: 1, file_name: 'a.jpg', width: 100, height: 100 }],
  categories: [
    { id: 1, name: 'person' },
    { id: 3, name: 'car' },
  ],
  annotations: [
    { image_id: 1, category_id: 1, bbox: [10, 10, 20, 40] },
    { image_id: 1, category_id: 3, bbox: [50, 50, 40, 20], iscrowd: 0 },
    { image_id: 1, category_id: 1, bbox: [60, 0, 40, 40], iscrowd: 1 },
  ],
};
const box = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

function evaluated(...found: { label: string; score: number; box: ReturnType<typeof box> }[]) {
  const [truth] = parseGroundTruth(coco);
  return truth ? evaluateBoxes(found, truth) : [];
}

test('the best box takes the object, another one on it is wrong', () => {
  const boxes = [
    { label: 'person', score: 0.6, box: box(10, 10, 20, 40) },
    { label: 'person', score: 0.9, box: box(12, 10, 20, 40) },
  ];
  expect(evaluated(...boxes).map(({ score, isRight }) => [score, isRight])).toEqual([
    [0.9, true],
    [0.6, false],
  ]);
});

test('half of the union is enough, less is wrong, and so is the wrong label', () => {
  expect(evaluated({ label: 'person', score: 0.9, box: box(10, 10, 20, 20) })[0]?.isRight).toBe(true);
  expect(evaluated({ label: 'person', score: 0.9, box: box(10, 10, 20, 19) })[0]?.isRight).toBe(false);
  expect(evaluated({ label: 'car', score: 0.9, box: box(10, 10, 20, 40) })[0]?.isRight).toBe(false);
});

test('in a crowd nothing is counted, unless its label has no crowd there', () => {
  expect(evaluated({ label: 'person', score: 0.9, box: box(70, 0, 10, 20) })).toEqual([]);
  expect(evaluated({ label: 'car', score: 0.9, box: box(70, 0, 10, 20) })).toHaveLength(1);
});

test('an annotation of an image that is not listed is reported', () => {
  const stray = { ...coco, annotations: [{ image_id: 2, category_id: 1, bbox: [0, 0, 1, 1] }] };
  expect(() => parseGroundTruth(stray)).toThrow('image 2');
});

test('recall, precision and reliability are those of the boxes at or above a score', () => {
  const boxes = [
    { label: 'person', score: 0.95, isRight: true },
    { label: 'person', score: 0.9, isRight: false },
    { label: 'person', score: 0.8, isRight: true },
    { label: 'person', score: 0.1, isRight: false },
  ];
  expect(atThreshold(boxes, 4, 0.8)).toEqual({ threshold: 0.8, recall: 0.5, precision: 2 / 3, shown: 3 });
  expect(atThreshold([], 4, 0.8)).toEqual({ threshold: 0.8, recall: 0, precision: 1, shown: 0 });
  const bins = reliabilityOf(boxes);
  expect(bins.map(({ count }) => count)).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 1, 2]);
  expect(bins[9]).toMatchObject({ from: 0.9, to: 1, observed: 1 / 2 });
  expect(calibrationErrorOf(bins)).toBeCloseTo((0.1 + (1 - 0.8) + 2 * (0.925 - 1 / 2)) / 4, 12);
});
