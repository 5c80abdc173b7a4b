import { expect, test } from '@jest/globals';
import { measureFlames, scoreFlames } from './judge-flicker.ts';
import type { FlameEvidence, FlameFrame } from './judge-flicker.ts';

const CELLS = 12;
const cells = Array.from({ length: CELLS }, (_, cell) => cell);

/** Frames of a row of cells: where it is aflame, its brightness follows. */
const framesOf = (isAflame: (cell: number, frame: number) => boolean): FlameFrame[] =>
  Array.from({ length: 12 }, (_, frame) => {
    const plane = (on: number, off: number) => Uint8Array.from(cells, (cell) => (isAflame(cell, frame) ? on : off));
    return { flame: plane(255, 0), luma: plane(200, 60), flameLuma: plane(200, 0), flameRed: plane(170, 0) };
  });

const measure = (isAflame: (cell: number, frame: number) => boolean) => measureFlames(framesOf(isAflame), cells);

test('an outline that never rests is busy and without order', () => {
  const { busy, disorder, active } = measure((cell, frame) => ((cell * 7919 + frame * 104_729) % 97) % 2 === 0);
  expect(busy).toBeGreaterThan(0.8);
  expect(disorder).toBeGreaterThan(0.5);
  expect(active).toHaveLength(CELLS);
});

test('cells that all change at once have no disorder, however often they do', () => {
  const { busy, disorder } = measure((_cell, frame) => frame % 2 === 0);
  expect(busy).toBe(1);
  expect(disorder).toBeLessThan(0.01);
});

test('what drives through changes every cell and makes none busy', () => {
  expect(measure((cell, frame) => Math.abs(frame - cell) < 2)).toMatchObject({ busy: 0 });
});

test('what stands still changes nothing', () => {
  expect(measure((cell) => cell < 6)).toMatchObject({ busy: 0, disorder: 0, swing: 0, active: [] });
});

const STREET = 24;
/** A flame in the left cells of a row; what is to the right of it is as bright as told. */
const beside = (brightness: (cell: number, frame: number) => number) => {
  const row = Array.from({ length: STREET }, (_, cell) => cell);
  const frames = Array.from({ length: 12 }, (_, frame): FlameFrame => {
    const isAflame = (cell: number) => cell < 8 && ((cell * 7919 + frame * 104_729) % 97) % 2 === 0;
    const plane = (on: number, off: (cell: number) => number) =>
      Uint8Array.from(row, (cell) => (isAflame(cell) ? on : off(cell)));
    return {
      flame: plane(255, () => 0),
      luma: plane(200, (cell) => (cell < 8 ? 60 : brightness(cell, frame))),
      flameLuma: plane(200, () => 0),
      flameRed: plane(170, () => 0),
    };
  });
  return measureFlames(frames, row).surround;
};

test('somebody who passes on one side of a flame does not speak against it', () => {
  expect(beside((cell, frame) => (cell > 12 && frame % 4 < 2 ? 200 : 60))).toBeLessThan(0.3);
});

test('what moves in front of all of it does', () => {
  expect(beside((_cell, frame) => (frame % 4 < 2 ? 200 : 60))).toBeGreaterThan(0.7);
});

const flame: FlameEvidence = {
  active: cells,
  busy: 0.5,
  disorder: 0.5,
  swing: 25,
  surround: 0.1,
  paling: -0.7,
  peak: 220,
};

test.each<[string, Partial<FlameEvidence>]>([
  ['hardly any cell is active', { active: [1] }],
  ['no cell changes again and again', { busy: 0 }],
  ['all cells change as one', { disorder: 0 }],
  ['the brightness hardly changes', { swing: 2 }],
  ['what is around changes as much', { surround: 1 }],
  ['bright parts are redder than dark ones', { paling: 0.5 }],
  ['nothing is bright', { peak: 100 }],
])('it is no flame when %s', (_case, missing) => {
  expect(scoreFlames(flame, 12)).toBeGreaterThan(0.9);
  expect(scoreFlames({ ...flame, ...missing }, 12)).toBe(0);
});
