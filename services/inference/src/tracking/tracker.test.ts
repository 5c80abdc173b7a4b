import { expect, test } from '@jest/globals';
import { createTracker } from './tracker.ts';
import type { Detected } from './track.ts';

const ASPECT = 4 / 3;

const person = (cx: number, cy = 0.5, score = 0.9): Detected => ({
  label: 'person',
  score,
  bbox: { cx, cy, width: 0.06, height: 0.2 },
});

/** Runs a scene of objects given as functions of seconds, and returns the ids of each object over time. */
function follow(
  times: number[],
  objects: ((seconds: number) => Detected | undefined)[],
  tracker = createTracker('a1'),
) {
  const ids = objects.map((): string[] => []);
  for (const timeMs of times) {
    const seen = objects.map((object) => object(timeMs / 1000));
    const tracked = tracker.update(
      timeMs,
      seen.filter((item) => item !== undefined),
      ASPECT,
    );
    seen.forEach((item, index) => {
      const found = tracked.find((other) => other.bbox === item?.bbox);
      if (found) ids[index]?.push(found.track_id);
    });
  }
  return ids.map((list) => [...new Set(list)]);
}

const everyMs = (step: number, untilMs: number) => Array.from({ length: untilMs / step + 1 }, (_, i) => i * step);

test('one object that walks keeps one id', () => {
  expect(follow(everyMs(200, 6000), [(t) => person(0.1 + 0.1 * t)])).toEqual([['a1-1']]);
});

test('two objects that cross keep their ids', () => {
  const ids = follow(everyMs(200, 6000), [(t) => person(0.2 + 0.1 * t, 0.45), (t) => person(0.8 - 0.1 * t, 0.55)]);
  expect(ids).toEqual([['a1-1'], ['a1-2']]);
});

test('an object hidden for less than two seconds keeps its id while it moves on', () => {
  const hidden = (t: number) => t > 2 && t < 3.8;
  expect(follow(everyMs(200, 6000), [(t) => (hidden(t) ? undefined : person(0.1 + 0.1 * t))])).toEqual([['a1-1']]);
});

test('an object hidden for more than two seconds comes back with a new id', () => {
  const hidden = (t: number) => t > 2 && t < 4.5;
  expect(follow(everyMs(200, 6000), [(t) => (hidden(t) ? undefined : person(0.5))])).toEqual([['a1-1', 'a1-2']]);
});

test('frames with a low score keep the id', () => {
  expect(follow(everyMs(200, 4000), [(t) => person(0.1 + 0.1 * t, 0.5, t > 1 && t < 3 ? 0.3 : 0.9)])).toEqual([
    ['a1-1'],
  ]);
});

test('of a sure and an unsure detection about as near, the sure one continues the track', () => {
  const tracker = createTracker('a1');
  for (const timeMs of [0, 200, 400]) tracker.update(timeMs, [person(0.5)], ASPECT);
  const tracked = tracker.update(600, [person(0.5, 0.5, 0.3), person(0.503, 0.5, 0.9)], ASPECT);
  expect(tracked.map((item) => item.track_id)).toEqual(['a1-2', 'a1-1']);
});

test('an uneven frame rate does not break a track, because prediction uses the elapsed time', () => {
  const times = [0, 40, 80, 600, 640, 1400, 1500, 2400, 2440, 3000, 3900, 4000];
  expect(follow(times, [(t) => person(0.1 + 0.15 * t)])).toEqual([['a1-1']]);
});

test('the same walk at 1 and at 25 frames a second is one track', () => {
  expect(follow(everyMs(1000, 6000), [(t) => person(0.3 + 0.04 * t)])).toEqual([['a1-1']]);
  expect(follow(everyMs(40, 6000), [(t) => person(0.1 + 0.1 * t)])).toEqual([['a1-1']]);
});

test('a car that drives through a person does not take over its id', () => {
  const car = (cx: number): Detected => ({ ...person(cx), label: 'car' });
  expect(follow(everyMs(200, 4000), [() => person(0.5), (t) => car(0.3 + 0.1 * t)])).toEqual([['a1-1'], ['a1-2']]);
});

test('every detection has an id from its first frame on, also an unsure one, and ids are never reused', () => {
  const tracker = createTracker('a7');
  const seen = new Set<string>();
  for (let frame = 0; frame < 20; frame += 1) {
    const [tracked] = tracker.update(frame * 5000, [person(0.5, 0.5, 0.26)], ASPECT);
    expect(tracked?.track_id).toBe(`a7-${frame + 1}`);
    seen.add(tracked?.track_id ?? '');
  }
  expect(seen.size).toBe(20);
});

test('a clock that steps back is taken as no time passed', () => {
  const tracker = createTracker('a1');
  tracker.update(1000, [person(0.5)], ASPECT);
  expect(tracker.update(400, [person(0.5)], ASPECT)[0]?.track_id).toBe('a1-1');
});

test('two hundred objects in a frame keep their ids, in a time that no search of all pairings would do in', () => {
  const tracker = createTracker('a1');
  const crowd = (shift: number) =>
    Array.from({ length: 200 }, (_, i) => person(0.02 + (i % 20) * 0.05 + shift, 0.05 + Math.floor(i / 20) * 0.1));
  tracker.update(0, crowd(0), ASPECT);
  const ids = tracker.update(200, crowd(0.005), ASPECT).map((item) => item.track_id);
  expect(ids).toEqual(Array.from({ length: 200 }, (_, i) => `a1-${i + 1}`));
});
