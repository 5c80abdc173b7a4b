/**
 * Pairs rows with columns so that the sum of gains is greatest. A pair without a positive gain is never made: an
 * unpaired row or column counts 0.
 *
 * Connected components of rows and columns are solved separately, so that a crowded frame costs no more than its
 * densest part.
 *
 * @returns the column of each row, or -1
 */
export function assign(rows: number, columns: number, gain: (row: number, column: number) => number): number[] {
  const columnOfRow = Array.from({ length: rows }, () => -1);
  const gains = Array.from({ length: rows }, (_, row) => {
    const own = new Float64Array(columns);
    for (let column = 0; column < columns; column += 1) own[column] = Math.max(0, gain(row, column));
    return own;
  });
  for (const part of connectedParts(gains, columns)) {
    const isWide = part.columns.length >= part.rows.length;
    const [short, long] = isWide ? [part.rows, part.columns] : [part.columns, part.rows];
    const between = (one: number, other: number) => (isWide ? gains[one]?.[other] : gains[other]?.[one]) ?? 0;
    const costs = short.map((one) => Float64Array.from(long, (other) => -between(one, other)));
    cheapest(costs, long.length).forEach((chosen, index) => {
      const [one = -1, other = -1] = [short[index], long[chosen]];
      if (between(one, other) > 0) columnOfRow[isWide ? one : other] = isWide ? other : one;
    });
  }
  return columnOfRow;
}

interface Part {
  rows: number[];
  columns: number[];
}

function connectedParts(gains: readonly Float64Array[], columns: number): Part[] {
  const columnsOf = gains.map((row) => positive(row));
  const rowsOf = Array.from({ length: columns }, (): number[] => []);
  columnsOf.forEach((own, row) => own.forEach((column) => rowsOf[column]?.push(row)));
  const isRowTaken = new Uint8Array(gains.length);
  const isColumnTaken = new Uint8Array(columns);
  const parts: Part[] = [];
  for (const first of gains.keys()) {
    if (isRowTaken[first] === 1 || columnsOf[first]?.length === 0) continue;
    isRowTaken[first] = 1;
    const part: Part = { rows: [first], columns: [] };
    // Both lists grow during the iteration.
    for (const row of part.rows) {
      for (const column of columnsOf[row] ?? []) {
        if (isColumnTaken[column] === 1) continue;
        isColumnTaken[column] = 1;
        part.columns.push(column);
        for (const other of rowsOf[column] ?? []) {
          if (isRowTaken[other] === 1) continue;
          isRowTaken[other] = 1;
          part.rows.push(other);
        }
      }
    }
    parts.push(part);
  }
  return parts;
}

function positive(values: Float64Array): number[] {
  const places: number[] = [];
  values.forEach((value, index) => {
    if (value > 0) places.push(index);
  });
  return places;
}

/**
 * The column of each row with the least sum of costs, for at most as many rows as columns: the Hungarian method by
 * shortest augmenting paths, in `rows² × columns` steps.
 *
 * Source: R. Jonker, A. Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment
 * Problems" (1987), without its initialisation.
 */
function cheapest(costs: readonly Float64Array[], columns: number): number[] {
  const rowOfColumn = new Int32Array(columns).fill(-1);
  const columnPrice = new Float64Array(columns);
  const rowPrice = new Float64Array(costs.length);
  for (const first of costs.keys()) {
    const path = shortestPath({ costs, rowOfColumn, columnPrice, rowPrice }, first);
    for (let column = path.end; column >= 0;) {
      const before = path.columnBefore[column] ?? -1;
      rowOfColumn[column] = before < 0 ? first : (rowOfColumn[before] ?? first);
      column = before;
    }
  }
  const columnOfRow = Array.from(costs, () => -1);
  rowOfColumn.forEach((row, column) => {
    if (row >= 0) columnOfRow[row] = column;
  });
  return columnOfRow;
}

interface Prices {
  costs: readonly Float64Array[];
  rowOfColumn: Int32Array;
  columnPrice: Float64Array;
  rowPrice: Float64Array;
}

/** The cheapest path from a free row to a free column over existing pairs; adjusts the prices on the way. */
function shortestPath({ costs, rowOfColumn, columnPrice, rowPrice }: Prices, first: number) {
  const columns = columnPrice.length;
  const distance = new Float64Array(columns).fill(Infinity);
  const columnBefore = new Int32Array(columns).fill(-1);
  const isDone = new Uint8Array(columns);
  let row = first;
  let current = -1;
  let reached = 0;
  do {
    const costsOfRow = costs[row] ?? new Float64Array(columns);
    const base = reached - (rowPrice[row] ?? 0);
    let nearest = -1;
    let least = Infinity;
    for (let column = 0; column < columns; column += 1) {
      if (isDone[column] === 1) continue;
      const length = base + (costsOfRow[column] ?? 0) - (columnPrice[column] ?? 0);
      if (length < (distance[column] ?? 0)) {
        distance[column] = length;
        columnBefore[column] = current;
      }
      if ((distance[column] ?? Infinity) < least) {
        least = distance[column] ?? Infinity;
        nearest = column;
      }
    }
    isDone[nearest] = 1;
    reached = least;
    current = nearest;
    row = rowOfColumn[nearest] ?? -1;
  } while (row >= 0);
  rowPrice[first] = (rowPrice[first] ?? 0) + reached;
  for (let column = 0; column < columns; column += 1) {
    if (isDone[column] !== 1 || column === current) continue;
    const slack = reached - (distance[column] ?? 0);
    const owner = rowOfColumn[column] ?? 0;
    columnPrice[column] = (columnPrice[column] ?? 0) - slack;
    rowPrice[owner] = (rowPrice[owner] ?? 0) + slack;
  }
  return { end: current, columnBefore };
}
