import { fail } from './errors.ts';

/** The point of a box that decides whether the box lies in a region. */
export type Anchor = 'bottom_center' | 'center';

/** A point on the grid of `GRID` steps a side. */
export interface GridPoint {
  x: number;
  y: number;
}

/** A simple polygon on the image. */
export type Region = readonly GridPoint[];

/** Steps of the grid on each side of the image. Products of two coordinates are exact, so no edge is rounded. */
const GRID = 1_000_000;
const MIN_CORNERS = 3;
const MAX_CORNERS = 16;
const COORDINATE = /^(\d{1,32}(\.\d{0,32})?|\.\d{1,32})([eE][+-]?\d{1,3})?$/;

/**
 * Reads a region: `x1,y1,x2,y2,…`, each 0 to 1 of the image.
 * @throws AppError OP-TASK-REQUEST-INVALID (`region_invalid`)
 */
export function parseRegion(text: string): Region {
  const coordinates = text.split(',', 2 * MAX_CORNERS + 1).map((one) => (COORDINATE.test(one) ? Number(one) : NaN));
  if (coordinates.length % 2 !== 0) throw regionInvalid();
  const corners: [number, number][] = [];
  for (let at = 0; at < coordinates.length; at += 2) corners.push([coordinates[at] ?? NaN, coordinates[at + 1] ?? NaN]);
  return regionOf(corners);
}

/**
 * A region of these corners, each 0 to 1 of the image. Its edges neither cross nor touch each other.
 * @throws AppError OP-TASK-REQUEST-INVALID (`region_invalid`)
 */
export function regionOf(corners: readonly (readonly [x: number, y: number])[]): Region {
  if (corners.length < MIN_CORNERS || corners.length > MAX_CORNERS) throw regionInvalid();
  if (!corners.flat().every((value) => value >= 0 && value <= 1)) throw regionInvalid();
  const region = corners.map(([x, y]) => ({ x: onGrid(x), y: onGrid(y) }));
  if (!isSimple(region)) throw regionInvalid();
  return region;
}

/**
 * Whether a point lies in a region. Edges are half-open: of two regions that share an edge, exactly one contains a
 * point on it. The border belongs to the image, so a region that reaches the border contains the points on it.
 */
export function contains(region: Region, x: number, y: number): boolean {
  const { x: px, y: py } = pointInImage(x, y);
  let isInside = false;
  let before = region.at(-1);
  for (const corner of region) {
    if (before && isCrossed(edgeOf(before, corner), px, py)) isInside = !isInside;
    before = corner;
  }
  return isInside;
}

/** An edge from its lower to its higher end, whichever direction it has in the region. */
interface Edge {
  low: GridPoint;
  high: GridPoint;
}

const edgeOf = (one: GridPoint, other: GridPoint): Edge =>
  one.y < other.y ? { low: one, high: other } : { low: other, high: one };

/** Whether the ray from a point to the right crosses an edge. */
function isCrossed({ low, high }: Edge, px: number, py: number): boolean {
  if (py < low.y || py >= high.y) return false;
  return (high.x - low.x) * (py - low.y) > (px - low.x) * (high.y - low.y);
}

/** `contains` for regions that are asked again and again, about points of `pointInImage`. */
export function containment(region: Region): (x: number, y: number) => boolean {
  const edges = region.map((corner, at) => edgeOf(region.at(at - 1) ?? corner, corner));
  const right = Math.max(...region.map(({ x }) => x));
  const [left, top] = [Math.min(...region.map(({ x }) => x)), Math.min(...region.map(({ y }) => y))];
  const bottom = Math.max(...region.map(({ y }) => y));
  return (x, y) => {
    if (x < left || x > right || y < top || y >= bottom) return false;
    let isInside = false;
    for (const edge of edges) if (isCrossed(edge, x, y)) isInside = !isInside;
    return isInside;
  };
}

/** The point of the grid for which `contains` decides. */
export const pointInImage = (x: number, y: number): GridPoint => ({ x: inImage(onGrid(x)), y: inImage(onGrid(y)) });

/** A coordinate on the grid. */
export const onGrid = (value: number): number => Math.round(value * GRID);
const inImage = (value: number) => Math.min(GRID - 1, Math.max(0, value));

function isSimple(region: Region): boolean {
  const edges = region.map((from, at) => ({ from, to: region[(at + 1) % region.length] ?? from }));
  return edges.every(({ from, to }, at) => {
    if (from.x === to.x && from.y === to.y) return false;
    return edges.slice(at + 1).every((other, between) => {
      if (between === 0 && !folds(from, to, other.to)) return true;
      const isLastWithFirst = at === 0 && between === edges.length - 2;
      if (isLastWithFirst && !folds(other.from, from, to)) return true;
      return between > 0 && !isLastWithFirst && !meet(from, to, other.from, other.to);
    });
  });
}

/** Twice the area of a triangle; its sign is the side of `c` on the line from `a` to `b`, positive to the right. */
export const turn = (a: GridPoint, b: GridPoint, c: GridPoint): number =>
  (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

/** Whether the path over these three corners goes back on itself. */
const folds = (a: GridPoint, b: GridPoint, c: GridPoint) =>
  turn(a, b, c) === 0 && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) <= 0;

/** Whether two edges have a point in common. */
function meet(a: GridPoint, b: GridPoint, c: GridPoint, d: GridPoint): boolean {
  const sides = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)].map(Math.sign);
  const [ofC, ofD, ofA, ofB] = sides;
  if (ofC !== ofD && ofA !== ofB) return true;
  return (
    (ofC === 0 && isBetween(a, c, b)) ||
    (ofD === 0 && isBetween(a, d, b)) ||
    (ofA === 0 && isBetween(c, a, d)) ||
    (ofB === 0 && isBetween(c, b, d))
  );
}

const isBetween = (a: GridPoint, point: GridPoint, b: GridPoint) =>
  point.x >= Math.min(a.x, b.x) &&
  point.x <= Math.max(a.x, b.x) &&
  point.y >= Math.min(a.y, b.y) &&
  point.y <= Math.max(a.y, b.y);

const regionInvalid = () =>
  fail.requestInvalid(
    'region_invalid',
    `region: send ${MIN_CORNERS} to ${MAX_CORNERS} corners as x1,y1,x2,y2,…, each 0 to 1, of a polygon whose edges do not cross.`,
    { field: 'region' },
  );
