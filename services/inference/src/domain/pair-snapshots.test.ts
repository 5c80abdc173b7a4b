import { beforeEach, expect, test } from '@jest/globals';
import { createSnapshotPairs } from './pair-snapshots.ts';
import type { LiveSnapshot } from './pair-snapshots.ts';

const pixels = { width: 1, height: 1, data: Buffer.alloc(3) };
const snapshot = (ptsMs: number) => ({ ptsMs, pixels });
let [now, late] = [0, 0];
let paired: LiveSnapshot[] = [];
let pairs = newPairs();

function newPairs() {
  return createSnapshotPairs({ now: () => now, onPair: (pair) => paired.push(pair), onLate: () => (late += 1) });
}
beforeEach(() => {
  [now, late, paired] = [1000, 0, []];
  pairs = newPairs();
});

test('pairs a snapshot with its frame, whichever arrives first', () => {
  pairs.frame(0, 5000);
  pairs.snapshot(snapshot(0));
  pairs.snapshot(snapshot(1000));
  pairs.frame(800, 5800);
  now = 2000;
  pairs.frame(1000, 6000);
  expect(paired).toEqual([
    { timeMs: 5000, arrivedAtMs: 1000, pixels },
    { timeMs: 6000, arrivedAtMs: 2000, pixels },
  ]);
  expect(late).toBe(0);
});

test('leaves out a snapshot that comes half a second after its frame', () => {
  pairs.frame(0, 5000);
  now = 1501;
  pairs.snapshot(snapshot(0));
  expect([paired, late]).toEqual([[], 1]);
});

test('leaves out a snapshot whose frame has no time, or that belongs to no frame', () => {
  pairs.frame(0, undefined);
  pairs.snapshot(snapshot(0));
  pairs.snapshot(snapshot(77));
  pairs.snapshot(snapshot(78));
  expect([paired, late]).toEqual([[], 2]);
});

test('a frame of the connection before pairs with nothing', () => {
  pairs.frame(0, 5000);
  pairs.snapshot(snapshot(1000));
  pairs.reset();
  pairs.snapshot(snapshot(0));
  pairs.frame(1000, 6000);
  expect(paired).toEqual([]);
});
