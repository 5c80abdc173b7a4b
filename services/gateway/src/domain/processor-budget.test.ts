import { expect, test } from '@jest/globals';
import { refilled } from './bucket.ts';
import { countedMs, waitMs } from './processor-budget.ts';

const limits = { freeMs: 300, refusedMs: 100, perSecondMs: 500, burstMs: 30_000 };

test('ordinary images count for nothing, however many', () => {
  expect(countedMs({ processorMs: Array<number>(10).fill(300), refusedImages: 0 }, limits)).toBe(0);
});

test('an expensive image counts with what it took beyond an ordinary one, with any others beside it', () => {
  const processorMs = [2_000, ...Array<number>(9).fill(10)];
  expect(countedMs({ processorMs, refusedImages: 0 }, limits)).toBe(1_700);
});

test('a refused image counts, with any cost, and beside what it took beyond an ordinary one', () => {
  expect(countedMs({ processorMs: [5, 5, 5], refusedImages: 3 }, limits)).toBe(300);
  expect(countedMs({ processorMs: [2_000, 5], refusedImages: 1 }, limits)).toBe(1_800);
  expect(countedMs({ processorMs: [], refusedImages: 2 }, limits)).toBe(200);
});

test('what was overdrawn has to be refilled first', () => {
  expect(waitMs(-10_000, limits)).toBe(20_002);
  const later = refilled({ left: -10_000, atMs: 0 }, 20_002, { perSecond: limits.perSecondMs, most: limits.burstMs });
  expect(waitMs(later.left, limits)).toBe(0);
});
