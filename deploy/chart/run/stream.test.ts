import { expect, test } from '@jest/globals';
import type { ResultFrame } from '@vision/client';
import { stillnessOf, untoldStillness } from './stream.ts';

const frames = (...times: number[]) =>
  times.map((time): ResultFrame => ({
    frame_id: `t-${time}`,
    frame_time_ms: time,
    image: { width: 1, height: 1 },
    objects: [],
  }));

test('the longest pause counts that ends after the moment, whenever it began', () => {
  expect(stillnessOf(frames(0, 9_000, 10_000, 13_000, 13_200), 9_500)).toEqual({ fromMs: 10_000, ms: 3_000 });
  expect(stillnessOf(frames(8_000, 12_000, 12_200), 9_500)).toEqual({ fromMs: 8_000, ms: 4_000 });
});

test('a pause is untold when it holds an empty second that no gap names', () => {
  const list = frames(1_100, 1_900, 2_900, 6_000);
  expect(untoldStillness(list, [{ from_ms: 4_000, to_ms: 6_000 }])).toEqual([]);
  expect(untoldStillness(list, [{ from_ms: 1_000, to_ms: 2_000 }])).toEqual(['1970-01-01T00:00:02.900Z (3100 ms)']);
});
