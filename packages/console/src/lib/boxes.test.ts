import { expect, test } from '@jest/globals';
import { isWanted, objectsAt, objectsNear } from './boxes.ts';
import type { Frame } from './boxes.ts';

const object = (track_id: string, cx: number) => ({
  label: 'person',
  score: 0.9,
  track_id,
  bbox: { cx, cy: 0.5, width: 0.1, height: 0.2 },
});
const frames: Frame[] = [
  { frame_time_ms: 0, objects: [object('a', 0.2), object('b', 0.6)] },
  { frame_time_ms: 200, objects: [object('a', 0.4)] },
  { frame_time_ms: 1200, objects: [object('a', 0.8)] },
];
const places = (timeMs: number) => objectsAt(frames, timeMs).map(({ bbox }) => Number(bbox.cx.toFixed(3)));

test('an object of two frames moves between them; one of the first only stays', () => {
  expect(places(0)).toEqual([0.2, 0.6]);
  expect(places(100)).toEqual([0.3, 0.6]);
  expect(places(200)).toEqual([0.4]);
});

test('nothing moves between frames that are far apart, and no box stays for longer than a step', () => {
  expect(places(600)).toEqual([0.4]);
  expect(places(601)).toEqual([]);
  expect(places(1600)).toEqual([0.8]);
  expect(places(1601)).toEqual([]);
});

test('there are no objects before the first frame', () => {
  expect(objectsAt(frames, -1)).toEqual([]);
  expect(objectsAt([], 0)).toEqual([]);
});

test('the nearest frame counts when it is near enough', () => {
  expect(objectsNear(frames, 700, 500).map(({ bbox }) => bbox.cx)).toEqual([0.4]);
  expect(objectsNear(frames, 701, 499).map(({ bbox }) => bbox.cx)).toEqual([0.8]);
  expect(objectsNear(frames, 700, 499)).toEqual([]);
});

test('score and label filter', () => {
  const one = { label: 'person', score: 0.5 };
  expect(isWanted(one, { minScore: 0.5, hidden: new Set() })).toBe(true);
  expect(isWanted(one, { minScore: 0.55, hidden: new Set() })).toBe(false);
  expect(isWanted(one, { minScore: 0, hidden: new Set(['person']) })).toBe(false);
});
