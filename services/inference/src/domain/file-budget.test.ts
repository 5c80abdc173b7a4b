import { expect, test } from '@jest/globals';
import { decodeLimits, exceeds } from './file-budget.ts';

const HOUR_MS = 3_600_000;
const street = { playedMs: 12_000, samples: 120, width: 768, height: 576, fileBytes: 900_000 };

test('a usual video is within the budget, and so is a day of it', () => {
  expect(exceeds(street)).toBeUndefined();
  expect(exceeds({ ...street, playedMs: 24 * HOUR_MS, samples: 864_000, fileBytes: 512 * 2 ** 20 })).toBeUndefined();
});

test('black images at the lowest bitrate of an encoder are within the budget', () => {
  const black = { playedMs: 10_000, samples: 300, width: 7680, height: 4320, fileBytes: 24_203 };
  expect(exceeds(black)).toBeUndefined();
});

test('more than a day is refused', () => {
  expect(exceeds({ ...street, playedMs: 24 * HOUR_MS + 1 })).toBe('video_too_long');
});

test('an index that names the same bytes for 432,000 images of 8K is refused', () => {
  const day = { playedMs: 24 * HOUR_MS, samples: 432_000, width: 7680, height: 4320, fileBytes: 2_900_000 };
  expect(exceeds(day)).toBe('video_too_dense');
});

test('the limits of decoding grow with the video', () => {
  expect(decodeLimits(10_000)).toEqual({ cpuSeconds: 380, wallMs: HOUR_MS + 240_000 });
});
