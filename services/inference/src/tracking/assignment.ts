import munkres from 'munkres';

const FORBIDDEN = 1e6;

/**
 * Pairs rows with columns so that the sum of affinities is greatest; a pair below `least` is never made.
 *
 * Source: J. Munkres, "Algorithms for the Assignment and Transportation Problems" (1957), by the package of that name.
 *
 * @returns index pairs, and the rows and columns left over, in ascending order
 */
export function assign(
  rows: number,
  columns: number,
  affinity: (row: number, column: number) => number,
  least: number,
) {
  const pairs: [number, number][] = [];
  if (rows > 0 && columns > 0) {
    const costs = Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (_, column) => {
        const value = affinity(row, column);
        return value >= least && value > 0 ? 1 - value : FORBIDDEN;
      }),
    );
    for (const [row, column] of munkres(costs)) {
      if ((costs[row]?.[column] ?? FORBIDDEN) < FORBIDDEN) pairs.push([row, column]);
    }
  }
  const takenRows = new Set(pairs.map(([row]) => row));
  const takenColumns = new Set(pairs.map(([, column]) => column));
  return {
    pairs,
    freeRows: range(rows).filter((row) => !takenRows.has(row)),
    freeColumns: range(columns).filter((column) => !takenColumns.has(column)),
  };
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
