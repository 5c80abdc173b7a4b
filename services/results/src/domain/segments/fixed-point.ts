import type { TrackedObject } from '@vision/shared/contracts/detection';

/** Score and box of an object as whole numbers: score, then what the form says of the box. */
export type Integers = [score: number, number, number, number, number];

/** A way to write scores and boxes as whole numbers from which the very same numbers come back. */
export interface FixedPoint {
  /** Undefined when a number would not come back as it was. */
  toIntegers: (object: TrackedObject) => Integers | undefined;
  scoreOf: (integer: number) => number;
  /** `"cx":…,"cy":…,"width":…,"height":…` as JSON.stringify writes it. */
  boxText: (a: number, b: number, c: number, d: number) => string;
}

/** The whole number that `value` is in units of 1/scale; -1 when it is none, or lies outside 0 to 1. */
function integerOf(value: number, scale: number): number {
  const integer = Math.round(value * scale);
  // A quotient of two whole numbers is rounded once, to the very number that its decimal text stands for.
  return integer >= 0 && integer <= scale && integer / scale === value ? integer : -1;
}

/**
 * What our own backend publishes (services/inference/src/domain/to-objects.ts): edges have five decimals, so the centre
 * has six, of which the last is 0 or 5, and follows from edge and size.
 */
const edges: FixedPoint = {
  toIntegers: ({ score, bbox }) => {
    const s = integerOf(score, 1e4);
    const [cx, cy] = [integerOf(bbox.cx, 1e6), integerOf(bbox.cy, 1e6)];
    const [width, height] = [integerOf(bbox.width, 1e5), integerOf(bbox.height, 1e5)];
    if (s < 0 || cx < 0 || cy < 0 || width < 0 || height < 0 || cx % 5 !== 0 || cy % 5 !== 0) return undefined;
    const [left, top] = [(cx / 5 - width) / 2, (cy / 5 - height) / 2];
    return Number.isInteger(left) && Number.isInteger(top) ? [s, left, top, width, height] : undefined;
  },
  scoreOf: (integer) => integer / 1e4,
  boxText: (left, top, width, height) =>
    `"cx":${((2 * left + width) * 5) / 1e6},"cy":${((2 * top + height) * 5) / 1e6},` +
    `"width":${width / 1e5},"height":${height / 1e5}`,
};

/** Any numbers of at most six decimals. */
const centres: FixedPoint = {
  toIntegers: ({ score, bbox }) => {
    const all = [score, bbox.cx, bbox.cy, bbox.width, bbox.height].map((value) => integerOf(value, 1e6));
    // Of five numbers come five.
    return all.includes(-1) ? undefined : (all as Integers);
  },
  scoreOf: (integer) => integer / 1e6,
  boxText: (cx, cy, width, height) =>
    `"cx":${cx / 1e6},"cy":${cy / 1e6},"width":${width / 1e6},"height":${height / 1e6}`,
};

/** By the number that stands in a segment; the first that fits all objects is taken. */
export const fixedPoints: readonly FixedPoint[] = [edges, centres];
