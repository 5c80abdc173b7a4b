/** A point of the image, `[x, y]`, each coordinate 0 to 1. */
export type Point = [number, number];

/** A polygon closes itself; a line has two points. */
export type ShapeKind = 'polygon' | 'line';

/** Points that a shape needs, and may have. */
export const POINTS = { polygon: { least: 3, most: 16 }, line: { least: 2, most: 2 } } as const;

/** Parts of the image that need no drawing, by name. */
export const HALVES = {
  left: half([0, 0], [0.5, 1]),
  right: half([0.5, 0], [1, 1]),
  upper: half([0, 0], [1, 0.5]),
  lower: half([0, 0.5], [1, 1]),
} as const;
export type Half = keyof typeof HALVES;

/** The name of a polygon that is one of the halves. */
export const halfOf = (points: readonly Point[]): Half | undefined =>
  (Object.keys(HALVES) as Half[]).find((name) => String(HALVES[name]) === String(points));

function half([left, top]: Point, [right, bottom]: Point): Point[] {
  return [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ];
}

const PRECISION = 1_000;
const clamp = (value: number) => Math.min(1, Math.max(0, Math.round(value * PRECISION) / PRECISION));

/** A point on the image, rounded to a thousandth. */
export const pointAt = (x: number, y: number): Point => [clamp(x), clamp(y)];

export const moved = (points: readonly Point[], index: number, to: Point): Point[] =>
  points.map((point, at) => (at === index ? to : point));

export const removed = (points: readonly Point[], index: number): Point[] => points.filter((_, at) => at !== index);

export const inserted = (points: readonly Point[], index: number, point: Point): Point[] =>
  points.toSpliced(index, 0, point);

/** Where a new point belongs: in the edge that is nearest, so that a press beside an edge bends it. */
export function insertionIndex(points: readonly Point[], point: Point): number {
  if (points.length < 3) return points.length;
  const distances = points.map((from, at) => distanceToEdge(point, from, points[(at + 1) % points.length] ?? from));
  return distances.indexOf(Math.min(...distances)) + 1;
}

/** The point in the middle of the edge that begins with a point; beside it, where there is no edge yet. */
export function middleAfter(points: readonly Point[], index: number): Point {
  const [from, to] = [points[index], points[(index + 1) % points.length]];
  if (!from) return [0.5, 0.5];
  if (!to || points.length < 2) return pointAt(from[0] + 0.2, from[1]);
  // A third point in the middle of two would lie on their edge.
  const aside = points.length === 2 ? 0.2 : 0;
  return pointAt((from[0] + to[0]) / 2, (from[1] + to[1]) / 2 + (from[1] > 0.5 ? -aside : aside));
}

/** Why a shape is not one yet. */
export function shapeProblem(kind: ShapeKind, points: readonly Point[]): 'few' | 'crossed' | undefined {
  if (points.length < POINTS[kind].least) return 'few';
  if (kind === 'line') return points[0]?.join() === points[1]?.join() ? 'few' : undefined;
  return isCrossed(points) ? 'crossed' : undefined;
}

function isCrossed(points: readonly Point[]): boolean {
  const edges = points.map((from, at): [Point, Point] => [from, points[(at + 1) % points.length] ?? from]);
  return edges.some(([a, b], at) =>
    edges.some(([c, d], other) => {
      const isNeighbour = other === at || (other + 1) % edges.length === at || (at + 1) % edges.length === other;
      return !isNeighbour && turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b);
    }),
  );
}

const turn = (a: Point, b: Point, c: Point) => Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));

function distanceToEdge([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}
