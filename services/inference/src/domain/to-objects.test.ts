import { expect, test } from '@jest/globals';
import { toBoundingBox } from './to-objects.ts';

test('a box cut at the edges of the image does not reach beyond them, with any digits', () => {
  const sides = Array.from({ length: 400 }, (_, index) => (index + 1) / 401.7);
  for (const side of sides) {
    for (const [low, high] of [
      [0, side],
      [-0.2, side],
      [side, 1],
      [side, 1.3],
    ] as const) {
      const box = toBoundingBox({ left: low, right: high, top: low, bottom: high });
      const { cx = 0, width = 0, cy = 0, height = 0 } = box ?? {};
      expect(Math.min(cx - width / 2, cy - height / 2)).toBeGreaterThan(-1e-9);
      expect(Math.max(cx + width / 2, cy + height / 2)).toBeLessThan(1 + 1e-9);
    }
  }
});

test('numbers of a box have few digits', () => {
  const box = toBoundingBox({ left: 1 / 3, right: 2 / 3, top: 1 / 7, bottom: 5 / 7 });
  expect(box).toEqual({ format: 'cxcywh_normalized', cx: 0.5, cy: 0.428575, width: 0.33334, height: 0.57143 });
});

test.each([
  ['beside the picture', { left: 1.1, right: 1.4, top: 0.1, bottom: 0.2 }],
  ['thinner than a digit', { left: 0.5, right: 0.500001, top: 0.1, bottom: 0.2 }],
])('a box %s is none', (_where, corners) => {
  expect(toBoundingBox(corners)).toBeUndefined();
});
