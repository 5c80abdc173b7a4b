import { expect, test } from '@jest/globals';
import { countedMs, refilled, waitMs } from './processor-budget.ts';

const limits = { freeMs: 300, refusedMs: 100, perSecondMs: 500, burstMs: 30_000 };

test('ordinary pictures count for nothing, however many', () => {
  expect(countedMs({ processorMs: Array<number>(10).fill(300), refusedPictures: 0 }, limits)).toBe(0);
});

test('an expensive picture counts with what it took beyond an ordinary one, whatever is beside it', () => {
  const processorMs = [2_000, ...Array<number>(9).fill(10)];
  expect(countedMs({ processorMs, refusedPictures: 0 }, limits)).toBe(1_700);
});

test('a refused picture counts, whatever it took, and beside what it took beyond an ordinary one', () => {
  expect(countedMs({ processorMs: [5, 5, 5], refusedPictures: 3 }, limits)).toBe(300);
  expect(countedMs({ processorMs: [2_000, 5], refusedPictures: 1 }, limits)).toBe(1_800);
  expect(countedMs({ processorMs: [], refusedPictures: 2 }, limits)).toBe(200);
});

test('a new budget is full, and refills to no more than that', () => {
  expect(refilled(undefined, 5_000, limits)).toEqual({ leftMs: 30_000, atMs: 5_000 });
  expect(refilled({ leftMs: 29_900, atMs: 0 }, 60_000, limits).leftMs).toBe(30_000);
});

test('what was overdrawn has to be refilled first', () => {
  const overdrawn = { leftMs: -10_000, atMs: 0 };
  expect(waitMs(overdrawn, limits)).toBe(20_002);
  expect(waitMs(refilled(overdrawn, 20_002, limits), limits)).toBe(0);
});

test('a clock that goes back takes nothing away', () => {
  expect(refilled({ leftMs: 100, atMs: 9_000 }, 1_000, limits).leftMs).toBe(100);
});
