import { expect, test } from '@jest/globals';
import type { RgbImage } from './rgb-image.ts';
import { isStill } from './stillness.ts';

const LEAST = 6;
const size = { width: 160, height: 90 };
type Pixel = (x: number, y: number, channel: number) => number;

function picture(pixel: Pixel): RgbImage {
  const data = new Uint8Array(size.width * size.height * 3);
  for (let index = 0; index < data.length; index += 1) {
    const at = Math.floor(index / 3);
    data[index] = Math.min(255, Math.max(0, pixel(at % size.width, Math.floor(at / size.width), index % 3)));
  }
  return { ...size, data };
}

/** Camera noise, the same on every run. */
function noisy(pixel: Pixel, deviation: number, seed: number): RgbImage {
  let state = seed;
  const uniform = () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  return picture((x, y, channel) => Math.round(pixel(x, y, channel) + deviation * normal()));
}

const wall: Pixel = (x, y) => 60 + ((x * 7 + y * 3) % 120);
const before = picture(wall);
/** The background with a square on it. */
const withSquare = (left: number, side: number, contrast: number) =>
  picture((x, y, channel) => {
    const isInside = x >= left && x < left + side && y >= 41 && y < 41 + side;
    return wall(x, y, channel) + (isInside ? contrast : 0);
  });

test('the same image is still', () => {
  expect(isStill(before, before, LEAST)).toBe(true);
});

test.each([2, 4, 6])('a camera whose noise has a deviation of %d levels is still', (deviation) => {
  expect(isStill(noisy(wall, deviation, 11), noisy(wall, deviation, 4711), LEAST)).toBe(true);
});

test('noise that could hide something is no stillness', () => {
  expect(isStill(noisy(wall, 25, 11), noisy(wall, 25, 4711), LEAST)).toBe(false);
});

test('a few pixels that differ strongly are still, as dust or a dead pixel', () => {
  expect(isStill(before, withSquare(80, 1, 150), LEAST)).toBe(true);
});

test.each([0, 3, 7, 77, 152])('a small object %d pixels from the edge is a change', (left) => {
  expect(isStill(before, withSquare(left, 8, 40), LEAST)).toBe(false);
});

test('an object that moves by a quarter of its width is a change', () => {
  expect(isStill(withSquare(80, 8, 60), withSquare(82, 8, 60), LEAST)).toBe(false);
});

test('a texture that moves without getting brighter or darker is a change', () => {
  const stripes = (phase: number) => picture((x) => 128 + ((x + phase) % 2 === 0 ? 40 : -40));
  expect(isStill(stripes(0), stripes(1), LEAST)).toBe(false);
});

test('a lamp that changes its colour and not its brightness is a change', () => {
  const lamp = (lit: number) => picture((x, y, channel) => (x < 8 && y < 8 && channel === lit ? 200 : 60));
  expect(isStill(lamp(0), lamp(2), LEAST)).toBe(false);
});

test('light that flickers is a change, and less than the least change is none', () => {
  expect(
    isStill(
      before,
      picture((x, y) => wall(x, y, 0) + 8),
      LEAST,
    ),
  ).toBe(false);
  expect(
    isStill(
      before,
      picture((x, y) => wall(x, y, 0) + 4),
      LEAST,
    ),
  ).toBe(true);
});

test('an image of another size is a change', () => {
  expect(isStill(before, { width: 90, height: 160, data: before.data }, LEAST)).toBe(false);
});
