import { expect, test } from '@jest/globals';
import { createStillFrames } from './still-frames.ts';

const settings = { longest_ms: 5000, least_change: 6 };

/** A grey frame with a time. */
const frame = (timeMs: number, level: number) => {
  const size = { width: 16, height: 16 };
  return { seq: timeMs / 200, timeMs, image: size, pixels: { ...size, data: new Uint8Array(16 * 16 * 3).fill(level) } };
};

test('frames of a still scene repeat the first one', () => {
  const still = createStillFrames(settings);
  expect([0, 200, 400, 600].map((timeMs) => still.repeats(frame(timeMs, 100)))).toEqual([false, true, true, true]);
});

test('a slow change is detected when it has added up', () => {
  const still = createStillFrames(settings);
  const looked = Array.from({ length: 20 }, (_, index) => !still.repeats(frame(index * 200, 100 + index)));
  // Six levels of 255 are a change.
  expect(looked.flatMap((isLooked, index) => (isLooked ? [index] : []))).toEqual([0, 6, 12, 18]);
});

test('detection runs again after a while in any still scene', () => {
  const still = createStillFrames(settings);
  const looked = Array.from({ length: 60 }, (_, index) => !still.repeats(frame(index * 200, 100)));
  expect(looked.flatMap((isLooked, index) => (isLooked ? [index * 200] : []))).toEqual([0, 5000, 10_000]);
});

test('a clock that steps back is no reason to repeat', () => {
  const still = createStillFrames(settings);
  still.repeats(frame(10_000, 100));
  expect(still.repeats(frame(400, 100))).toBe(false);
});

test('detection runs in every frame of a scene without the setting', () => {
  const still = createStillFrames(undefined);
  expect([0, 200, 400].map((timeMs) => still.repeats(frame(timeMs, 100)))).toEqual([false, false, false]);
});
