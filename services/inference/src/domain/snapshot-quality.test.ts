import { expect, test } from '@jest/globals';
import type { RgbImage } from './rgb-image.ts';
import { cropOf, laplacianVariance, qualityOf } from './snapshot-quality.ts';

const SIDE = 200;
const box = (cx: number, cy: number, width: number, height: number) => ({
  format: 'cxcywh_normalized' as const,
  cx,
  cy,
  width,
  height,
});

/** An image whose pixels are grey as the function says. */
function drawn(grey: (x: number, y: number) => number): RgbImage {
  const data = new Uint8Array(SIDE * SIDE * 3);
  for (let y = 0; y < SIDE; y += 1)
    for (let x = 0; x < SIDE; x += 1) data.fill(grey(x, y), 3 * (y * SIDE + x), 3 * (y * SIDE + x) + 3);
  return { width: SIDE, height: SIDE, data };
}
const sharp = drawn((x, y) => ((Math.floor(x / 4) + Math.floor(y / 4)) % 2 === 0 ? 40 : 200));
const blurred = drawn((x, y) => 120 + 20 * Math.sin(x / 20) + 20 * Math.cos(y / 20));

function quality(image: RgbImage, bbox: ReturnType<typeof box>, score = 0.9): number {
  const part = cropOf(bbox, image);
  if (!part) throw new Error('nothing is shown');
  return qualityOf(image, part, { score, bbox });
}

test('a part has a margin of a tenth and stays within the image', () => {
  expect(cropOf(box(0.5, 0.5, 0.2, 0.4), sharp)).toEqual({ left: 76, top: 52, width: 48, height: 96 });
  expect(cropOf(box(0.02, 0.98, 0.2, 0.2), sharp)).toEqual({ left: 0, top: 172, width: 28, height: 28 });
  expect(cropOf(box(0.5, 0.5, 1, 1), sharp)).toEqual({ left: 0, top: 0, width: SIDE, height: SIDE });
});

test.each([box(0.5, 0.5, 0, 0), box(0.5, 0.5, 0.01, 0.5), box(1, 1, 0.02, 0.02)])(
  '%p is too small to be shown',
  (bbox) => {
    expect(cropOf(bbox, sharp)).toBeUndefined();
  },
);

test('larger, surer, sharper and whole objects are shown better', () => {
  const middle = quality(sharp, box(0.5, 0.5, 0.2, 0.4));
  expect(quality(sharp, box(0.5, 0.5, 0.4, 0.8))).toBeGreaterThan(1.9 * middle);
  expect(quality(sharp, box(0.5, 0.5, 0.2, 0.4), 0.45)).toBeCloseTo(middle / 2);
  expect(quality(blurred, box(0.5, 0.5, 0.2, 0.4))).toBeLessThan(middle / 2);
  expect(quality(sharp, box(0.1, 0.5, 0.2, 0.4))).toBeCloseTo(middle / 2);
});

test('an image of one colour has no edges, and is worth something all the same', () => {
  const flat = drawn(() => 128);
  expect(laplacianVariance(flat, { left: 0, top: 0, width: SIDE, height: SIDE })).toBeCloseTo(0);
  expect(quality(flat, box(0.5, 0.5, 0.2, 0.4))).toBeGreaterThan(0);
});
