import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { assign } from './assignment.ts';

const sumOf = (gains: number[][], columnOfRow: number[]) =>
  columnOfRow.reduce((sum, column, row) => sum + (gains[row]?.[column] ?? 0), 0);

/** The best of all pairings, tried one by one. */
function best(gains: number[][], row = 0, taken = new Set<number>()): number {
  const line = gains[row];
  if (!line) return 0;
  const without = best(gains, row + 1, taken);
  const withOne = line.map((gain, column) =>
    taken.has(column) || gain <= 0 ? 0 : gain + best(gains, row + 1, new Set(taken).add(column)),
  );
  return Math.max(without, ...withOne);
}

const table = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })).chain(([rows, columns]) =>
  fc.array(
    fc.array(fc.oneof(fc.constant(0), fc.constant(-1), fc.integer({ min: 1, max: 9 })), {
      minLength: columns,
      maxLength: columns,
    }),
    { minLength: rows, maxLength: rows },
  ),
);

test('no other pairing gains more, and no column is given twice', () => {
  fc.assert(
    fc.property(table, (gains) => {
      const columns = gains[0]?.length ?? 0;
      const columnOfRow = assign(gains.length, columns, (row, column) => gains[row]?.[column] ?? 0);
      const used = columnOfRow.filter((column) => column >= 0);
      expect(new Set(used).size).toBe(used.length);
      expect(sumOf(gains, columnOfRow)).toBe(best(gains));
    }),
    { numRuns: 500 },
  );
});

test('a pair that gains nothing is not made, even when both are free', () => {
  expect(assign(2, 2, (row, column) => (row === 0 && column === 1 ? 3 : 0))).toEqual([1, -1]);
});

test('one good pair is made rather than two poor ones', () => {
  const gains = [
    [9, 4],
    [4, 0],
  ];
  expect(assign(2, 2, (row, column) => gains[row]?.[column] ?? 0)).toEqual([0, -1]);
});
