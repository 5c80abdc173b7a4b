import { expect, test } from '@jest/globals';
import { createSnapshotChoice } from './choose-snapshots.ts';
import type { ChosenSnapshot } from './choose-snapshots.ts';
import type { RgbImage } from './rgb-image.ts';

const STEP_MS = 1_000;

/** An image of squares, so that quality depends on the size of an object alone. */
const pixels: RgbImage = {
  width: 100,
  height: 100,
  data: new Uint8Array(30_000).map((_, at) => (at % 5 < 2 ? 255 : 0)),
};

const object = (trackId: string, side = 0.2, score = 0.9) => ({
  label: 'person',
  track_id: trackId,
  score,
  bbox: { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: side, height: side },
});

/** Frames of a second each, with their large frames, and what was taken of them. */
function choice({ cut = (): string | undefined => 'crop' } = {}) {
  const taken: ChosenSnapshot[] = [];
  const unused: number[] = [];
  const one = createSnapshotChoice<string>({
    threshold: 0.5,
    mostLarge: 2,
    cut,
    take: (snapshot) => void taken.push(snapshot),
    onUnused: () => void unused.push(1),
  });
  let seq = 0;
  const show = (...objects: ReturnType<typeof object>[]) => {
    const timeMs = seq * STEP_MS;
    one.large({ timeMs, pixels });
    one.frame({ seq, timeMs, objects });
    seq += 1;
  };
  return { ...one, show, taken, unused, facts: () => taken.map(({ trackId, n, seq: at }) => [trackId, n, at]) };
}

test('the first image of a track is taken with its third frame', () => {
  const { show, facts } = choice();
  for (let at = 0; at < 5; at += 1) show(object('a'));
  expect(facts()).toEqual([['a', 1, 2]]);
});

test('an object below the threshold, of two frames, or too small to see has none', () => {
  const { show, end, taken } = choice();
  for (let at = 0; at < 5; at += 1) show(object('low', 0.2, 0.49), object('small', 0.01));
  show(object('short'));
  show(object('short'));
  end();
  expect(taken).toEqual([]);
});

test('a better image comes ten seconds after the one before', () => {
  const { show, facts } = choice();
  for (let at = 0; at < 12; at += 1) show(object('a'));
  for (let at = 12; at < 20; at += 1) show(object('a', 0.3));
  // Not better by a fifth.
  for (let at = 20; at < 40; at += 1) show(object('a', 0.33));
  expect(facts()).toEqual([
    ['a', 1, 2],
    ['a', 2, 12],
  ]);
});

test('an image that was better too early is taken when its time has come', () => {
  const { show, facts } = choice();
  for (let at = 0; at < 3; at += 1) show(object('a'));
  show(object('a', 0.5));
  for (let at = 4; at < 20; at += 1) show(object('a'));
  expect(facts()).toEqual([
    ['a', 1, 2],
    ['a', 2, 3],
  ]);
});

test('the best image that is held is taken when the track ends, and when the job does', () => {
  const { show, end, facts } = choice();
  for (let at = 0; at < 3; at += 1) show(object('gone'), object('there'));
  show(object('gone', 0.4), object('there', 0.4));
  for (let at = 4; at < 8; at += 1) show(object('there'));
  expect(facts().slice(2)).toEqual([['gone', 2, 3]]);
  end();
  expect(facts().slice(3)).toEqual([['there', 2, 3]]);
});

test('a crowd takes ten images at once and one a second', () => {
  const { show, end, taken } = choice();
  const crowd = Array.from({ length: 30 }, (_, at) => object(`t${at}`));
  for (let at = 0; at < 8; at += 1) show(...crowd);
  expect(taken).toHaveLength(15);
  expect(new Set(taken.map(({ trackId }) => trackId)).size).toBe(15);
  end();
  expect(taken).toHaveLength(15);
});

test('a large frame belongs to the frame of its time, whichever comes first', () => {
  const { frame, large, taken, unused } = choice();
  const frameAt = (seq: number) => frame({ seq, timeMs: seq * 200, objects: [object('a')] });
  [0, 1, 2].forEach(frameAt);
  large({ timeMs: 400, pixels });
  expect(taken).toMatchObject([{ seq: 2, timeMs: 400 }]);
  // Its frame was left out for a fresher one.
  large({ timeMs: 500, pixels });
  frameAt(3);
  large({ timeMs: 450, pixels });
  expect(unused).toHaveLength(2);
});

test('large frames that no frame follows are not collected', () => {
  const { large, unused } = choice();
  for (let at = 0; at < 10; at += 1) large({ timeMs: at * 1000, pixels });
  expect(unused).toHaveLength(8);
});

test('while no image can be cut, none is taken, and a later one is', () => {
  let isBusy = true;
  const { show, facts } = choice({ cut: () => (isBusy ? undefined : 'crop') });
  for (let at = 0; at < 5; at += 1) show(object('a'));
  expect(facts()).toEqual([]);
  isBusy = false;
  show(object('a'));
  expect(facts()).toEqual([['a', 1, 5]]);
});
