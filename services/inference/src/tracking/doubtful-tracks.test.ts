import { expect, test } from '@jest/globals';
import { createTracker } from './tracker.ts';
import type { Detected } from './track.ts';

const ASPECT = 4 / 3;

const person = (cx: number, score = 0.95, { cy = 0.5, height = 0.2 } = {}): Detected => ({
  label: 'person',
  score,
  bbox: { cx, cy, width: 0.06, height },
});

/** A second box around the upper part of the same person. */
const upperPart = (cx: number, score: number) => person(cx, score, { cy: 0.46, height: 0.12 });

/** The ids of each frame; frames are 200 ms apart unless a time is given. */
function idsOf(frames: (Detected[] | { at: number; found: Detected[] })[]): string[][] {
  const tracker = createTracker('a1');
  let timeMs = -200;
  return frames.map((frame) => {
    timeMs = Array.isArray(frame) ? timeMs + 200 : frame.at;
    const found = Array.isArray(frame) ? frame : frame.found;
    return tracker.update(timeMs, found, ASPECT).map(({ track_id: id }) => id);
  });
}

test('a second box of a person has an id of its own that never becomes the id of the person', () => {
  const frames = Array.from({ length: 10 }, (_, frame) => {
    const cx = 0.3 + 0.02 * frame;
    return [person(cx), upperPart(cx, 0.8)];
  });
  const ids = idsOf(frames);
  expect(new Set(ids.map(([first]) => first))).toEqual(new Set(['a1-1']));
  expect(ids.map(([, second]) => second)).not.toContain('a1-1');
});

test('a person keeps the id when the box fits the track of its own second box better', () => {
  const known = Array.from({ length: 5 }, () => [person(0.5), upperPart(0.5, 0.6)]);
  const ids = idsOf([...known, [upperPart(0.5, 0.9)]]);
  expect(ids.at(-1)).toEqual(['a1-1']);
});

test.each([
  ['an unsure box', 0.3],
  ['a box that is neither unsure nor certain', 0.6],
])('%s without later detections is forgotten within half a second', (_, score) => {
  expect(idsOf([[person(0.5, score)], [], [], [person(0.5)]]).at(-1)).toEqual(['a1-2']);
});

test('any number of low-score boxes leaves a track doubtful', () => {
  const unsure = Array.from({ length: 5 }, () => [person(0.5, 0.3)]);
  expect(idsOf([...unsure, [], { at: 1600, found: [person(0.5)] }]).at(-1)).toEqual(['a1-2']);
});

test('one sure box ends the doubt, and the object is remembered for as long as others', () => {
  const ids = idsOf([[person(0.5, 0.3)], [person(0.5, 0.6)], [], { at: 1800, found: [person(0.5)] }]);
  expect(ids).toEqual([['a1-1'], ['a1-1'], [], ['a1-1']]);
});

test('a doubtful track leaves a box to an established track, even if the doubtful one is nearer', () => {
  // A person walks; at the position of the next step, a low-score box has begun a track of its own.
  const known = Array.from({ length: 6 }, (_, frame) => [person(0.2 + 0.02 * frame)]);
  const beside = [person(0.32), person(0.35, 0.3)];
  const ids = idsOf([...known, beside, [person(0.345)]]);
  expect(ids.at(-2)).toEqual(['a1-1', 'a1-2']);
  expect(ids.at(-1)).toEqual(['a1-1']);
});

test('at two frames a second a walking person keeps the id, though the boxes of two frames do not touch', () => {
  const ids = idsOf(
    Array.from({ length: 8 }, (_, frame) => ({ at: 500 * frame, found: [person(0.1 + 0.08 * frame)] })),
  );
  expect(new Set(ids.flat())).toEqual(new Set(['a1-1']));
});

test('a box twice its width away from a person standing still is another object', () => {
  const standing = Array.from({ length: 10 }, () => [person(0.5)]);
  expect(idsOf([...standing, [person(0.62)]]).at(-1)).toEqual(['a1-2']);
});

test('a person standing still may jump by most of their width between two frames, not by more than that', () => {
  const standing = Array.from({ length: 10 }, () => [person(0.5)]);
  expect(idsOf([...standing, [person(0.55)]]).at(-1)).toEqual(['a1-1']);
  expect(idsOf([...standing, [person(0.57)]]).at(-1)).toEqual(['a1-2']);
});

test('the id of a person who has left the image is not given to the next one who enters there', () => {
  const leaving = Array.from({ length: 6 }, (_, frame) => [person(0.95 + 0.01 * frame)]);
  expect(idsOf([...leaving, [], [person(0.99)]]).at(-1)).toEqual(['a1-2']);
});

test('a person who was missed for long is found again near the last position, not far from it', () => {
  const known = Array.from({ length: 6 }, () => [person(0.5)]);
  expect(idsOf([...known, { at: 2800, found: [person(0.51)] }]).at(-1)).toEqual(['a1-1']);
  expect(idsOf([...known, { at: 2800, found: [person(0.66)] }]).at(-1)).toEqual(['a1-2']);
});

test('a person who was missed for long could be anywhere near, so a box a width away is taken for another one', () => {
  const known = Array.from({ length: 6 }, () => [person(0.5)]);
  const missed = Array.from({ length: 8 }, () => []);
  expect(idsOf([...known, ...missed, [person(0.545)]]).at(-1)).toEqual(['a1-1']);
  expect(idsOf([...known, ...missed, [person(0.565)]]).at(-1)).toEqual(['a1-2']);
});
