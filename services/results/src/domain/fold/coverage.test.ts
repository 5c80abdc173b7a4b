import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { coverageOf, coveredSpans, MOST_GAPS, spansWithFrames } from './coverage.ts';
import { addFrame, emptyMinute, minuteOf } from './minutes.ts';
import type { Minute } from './minutes.ts';

const minutesOf = (seconds: Iterable<number>) => {
  const minutes = new Map<number, Minute>();
  for (const second of seconds) {
    const start = minuteOf(1000 * second);
    const minute = minutes.get(start) ?? emptyMinute();
    minutes.set(start, minute);
    addFrame(minute, 1000 * second + 999);
  }
  return minutes;
};

test('coverage is the seconds with frames and those right after them, and gaps are the rest', () => {
  const second = fc.integer({ min: -200, max: 400 });
  const bounds = fc.tuple(second, second).filter(([from, to]) => from < to);
  const run = fc.tuple(second, fc.integer({ min: 1, max: 130 }));
  fc.assert(
    fc.property(
      fc.array(run, { maxLength: 6 }),
      fc.integer({ min: 1, max: 60 }),
      bounds,
      (runs, length, [from, to]) => {
        const frames = runs.flatMap(([first, count]) => Array.from({ length: count }, (_, index) => first + index));
        const covered = new Set(frames.flatMap((one) => Array.from({ length }, (_, index) => one + index)));
        const expected = Array.from({ length: to - from }, (_, index) => from + index).filter((one) =>
          covered.has(one),
        );
        const span = { fromMs: 1000 * from, toMs: 1000 * to };
        const seen: number[] = [];
        const coverage = coverageOf(
          span,
          coveredSpans(spansWithFrames(minutesOf(frames)), { seconds: length, span }),
          (one) => {
            for (let ms = one.fromMs; ms < one.toMs; ms += 1000) seen.push(ms / 1000);
          },
        );
        expect(seen).toEqual(expected);
        const inGaps = coverage.gaps.flatMap((gap) =>
          Array.from({ length: (gap.toMs - gap.fromMs) / 1000 }, (_, index) => gap.fromMs / 1000 + index),
        );
        expect([...seen, ...inGaps].sort((a, b) => a - b)).toEqual(
          Array.from({ length: to - from }, (_, index) => from + index),
        );
        expect([coverage.coveredMs, coverage.gapCount]).toEqual([1000 * expected.length, coverage.gaps.length]);
      },
    ),
  );
});

test('the longest gaps are listed in order, and all are counted', () => {
  const count = 10 * MOST_GAPS;
  // A frame in every other second, and two seconds without one now and then.
  const frames = Array.from({ length: count }, (_, index) => 2 * index + Math.floor(index / 100));
  const span = { fromMs: 0, toMs: 1000 * ((frames.at(-1) ?? 0) + 1) };
  const { gaps, gapCount } = coverageOf(span, coveredSpans(spansWithFrames(minutesOf(frames)), { seconds: 1, span }));
  expect([gapCount, gaps.length]).toEqual([count - 1, MOST_GAPS]);
  expect(gaps.filter((gap) => gap.toMs - gap.fromMs === 2000)).toHaveLength(99);
  expect(gaps.map(({ fromMs }) => fromMs)).toEqual(gaps.map(({ fromMs }) => fromMs).sort((a, b) => a - b));
});
