import { expect, test } from '@jest/globals';
import type { DetectedObject } from '@vision/contracts/detection';
import { followObjects } from './follow-objects.ts';

const at = (timeMs: number) => ({ timeMs, image: { width: 768, height: 576 } });
const person = (cx: number): DetectedObject => ({
  label: 'person',
  score: 0.9,
  bbox: { format: 'cxcywh_normalized', cx, cy: 0.5, width: 0.1, height: 0.3 },
});

test('a frame that repeats the one before has the same objects with the same tracks', () => {
  const following = followObjects('a1');
  const first = following.next(at(0), [person(0.5), person(0.2)]);
  expect(first.map(({ track_id: id }) => id)).toEqual(['a1-1', 'a1-2']);
  expect(following.next(at(200), undefined)).toEqual(first);
});

test('who stood still for a minute keeps the track when moving on', () => {
  const following = followObjects('a1');
  for (let index = 0; index < 10; index += 1) following.next(at(index * 200), [person(0.4 + index * 0.01)]);
  for (let timeMs = 2000; timeMs <= 62_000; timeMs += 200) following.next(at(timeMs), undefined);
  expect(following.next(at(62_200), [person(0.5)])[0]?.track_id).toBe('a1-1');
});

test('a job that begins with nothing has nothing to repeat', () => {
  expect(followObjects('a1').next(at(0), undefined)).toEqual([]);
});
