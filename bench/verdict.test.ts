import { describe, expect, test } from '@jest/globals';
import { atLeast, atMost } from './figures.ts';
import type { Figure } from './figures.ts';
import { boundsText, breaches, shownValue } from './verdict.ts';

const ratio = (value: number, bounds: Partial<Figure> = {}): Figure => ({
  name: 'service over loop',
  value,
  unit: 'ratio',
  ...bounds,
});

describe('breaches', () => {
  test.each([
    [
      'a ratio below its target',
      ratio(0.39, { target: atLeast(0.4) }),
      'x: service over loop: 0.39 ratio, target ≥ 0.4',
    ],
    ['a ratio above its target', ratio(3.1, { target: atMost(3) }), 'x: service over loop: 3.10 ratio, target ≤ 3'],
    [
      'a ratio below its floor',
      ratio(0.59, { target: atLeast(0.85), floor: atLeast(0.6) }),
      'x: service over loop: 0.59 ratio, floor ≥ 0.6',
    ],
    [
      'a ratio without a value',
      ratio(Number.NaN, { target: atLeast(1) }),
      'x: service over loop: NaN ratio, target ≥ 1',
    ],
    [
      'statements that were sent although none should be',
      { ...ratio(3, { target: atMost(0) }), unit: 'statements' },
      'x: service over loop: 3.00 statements, target ≤ 0',
    ],
    [
      'rows that were read although none should be',
      { ...ratio(1, { target: atMost(0) }), unit: 'rows' },
      'x: service over loop: 1.00 rows, target ≤ 0',
    ],
    [
      'versions of rows beyond their target',
      { ...ratio(0.7, { target: atMost(0.6) }), unit: 'versions' },
      'x: service over loop: 0.70 versions, target ≤ 0.6',
    ],
  ])('names %s', (_, figure, line) => {
    expect(breaches('x', [figure])).toEqual([line]);
  });

  test.each([
    ['a ratio at its target', ratio(0.4, { target: atLeast(0.4) })],
    ['a ratio between floor and target', ratio(0.7, { target: atLeast(0.85), floor: atLeast(0.6) })],
    ['a time beyond its target, which depends on the machine', { ...ratio(20, { target: atMost(8) }), unit: 'ms' }],
    ['a ratio without bounds', ratio(0.1)],
  ])('accepts %s', (_, figure) => {
    expect(breaches('x', [figure])).toEqual([]);
  });
});

test('the table shows target and floor, and which of them is missed', () => {
  expect(boundsText(ratio(0.7, { target: atLeast(0.85), floor: atLeast(0.6) }))).toBe(
    'target ≥ 0.85, missed; floor ≥ 0.6',
  );
  expect(boundsText(ratio(0.7))).toBe('');
});

test('a value does not round to a bound that it misses', () => {
  expect(shownValue(ratio(0.3999, { target: atLeast(0.4) }))).toBe('0.3999');
  expect(shownValue(ratio(0.4099, { target: atLeast(0.4) }))).toBe('0.41');
});
