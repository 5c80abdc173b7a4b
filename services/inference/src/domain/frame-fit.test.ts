import { expect, test } from '@jest/globals';
import type { Shape } from '@vision/contracts/model-input';
import { fitTo } from './frame-fit.ts';

const shapes: Shape[] = [
  [416, 416],
  [544, 416],
  [736, 416],
  [416, 544],
  [416, 736],
];
const stretch = { kind: 'shapes', shapes, resize: 'stretch' } as const;
const letterbox = { kind: 'shapes', shapes, resize: 'letterbox' } as const;

const size = (width: number, height: number) => ({ width, height });

test.each([
  ['a square picture', size(500, 500), size(416, 416)],
  ['4:3', size(768, 576), size(544, 416)],
  ['16:9', size(1920, 1080), size(736, 416)],
  ['4:3 upright', size(576, 768), size(416, 544)],
  ['9:16', size(1080, 1920), size(416, 736)],
  ['a line of pixels', size(50_000, 1), size(736, 416)],
  ['a column of pixels', size(1, 50_000), size(416, 736)],
])('the input takes the shape nearest to that of %s', (_what, original, shape) => {
  expect(fitTo(original, stretch)).toEqual(shape);
});

test('an image that was scaled once is not scaled again', () => {
  for (const original of [
    { width: 768, height: 576 },
    { width: 1920, height: 1080 },
    { width: 720, height: 1280 },
    { width: 640, height: 640 },
  ]) {
    for (const fit of [stretch, letterbox]) {
      const scaled = fitTo(original, fit);
      expect(fitTo(scaled, fit)).toEqual(scaled);
    }
  }
});

test('a letterboxed image keeps its aspect inside the shape that is nearest to it', () => {
  expect(fitTo({ width: 1920, height: 1080 }, letterbox)).toEqual({ width: 736, height: 414 });
  expect(fitTo({ width: 50_000, height: 1 }, letterbox)).toEqual({ width: 736, height: 1 });
});

test('a model of one shape gets every image in that shape', () => {
  const fixed = { kind: 'shapes', shapes: [[640, 480]] as Shape[], resize: 'stretch' } as const;
  expect(fitTo({ width: 1080, height: 1920 }, fixed)).toEqual({ width: 640, height: 480 });
});

test('a longest side shrinks large images and leaves small ones', () => {
  const fit = { kind: 'longest_side', side: 320 } as const;
  expect(fitTo({ width: 1280, height: 720 }, fit)).toEqual({ width: 320, height: 180 });
  expect(fitTo({ width: 100, height: 50 }, fit)).toEqual({ width: 100, height: 50 });
  expect(fitTo({ width: 50_000, height: 1 }, fit)).toEqual({ width: 320, height: 1 });
});
