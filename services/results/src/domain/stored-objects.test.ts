import { expect, test } from '@jest/globals';
import type { TrackedObject } from '@vision/contracts/detection';
import { fromStored, selectObjects, toStored } from './stored-objects.ts';

const object = (score: number, label = 'person'): TrackedObject => ({
  label,
  score,
  bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 },
  track_id: '7',
});
const scores = [0.31, 0.95, 0.8, 0.7999999, 0.5, 0.8];
const selected = (minScore: number) => {
  const { json, total } = selectObjects(toStored(scores.map((score) => object(score))), minScore);
  return { total, scores: (JSON.parse(json) as TrackedObject[]).map(({ score }) => score) };
};

test.each([
  [0, [0.95, 0.8, 0.8, 0.7999999, 0.5, 0.31]],
  [0.8, [0.95, 0.8, 0.8]],
  [0.7999999, [0.95, 0.8, 0.8, 0.7999999]],
  [0.31, [0.95, 0.8, 0.8, 0.7999999, 0.5, 0.31]],
  [0.951, []],
  [1, []],
])('at %p the objects at or above it come back, highest first, and all are counted', (minScore, expected) => {
  expect(selected(minScore)).toEqual({ total: 6, scores: expected });
});

test('a frame without objects gives an empty array', () => {
  expect(selectObjects(toStored([]), 0.5)).toEqual({ json: '[]', total: 0 });
});

test('a label with any content comes back unchanged', () => {
  const odd = object(0.9, 'a\nb\r\u2028"\\,]\u0000');
  expect(JSON.parse(selectObjects(toStored([odd, object(0.1)]), 0.5).json)).toEqual([odd]);
});

test('parses only a text that would be written identically', () => {
  const objects = [object(0.9), object(0.1)];
  expect(fromStored(toStored(objects))).toEqual(objects);
  for (const text of [
    toStored(objects).split('\n').toReversed().join('\n'),
    toStored(objects).replace('0.9', '9e-1'),
    `${toStored(objects)}\n{"score":0.05}`,
  ])
    expect(fromStored(text)).toBeUndefined();
});
