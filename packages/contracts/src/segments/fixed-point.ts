import type { TrackedObject } from '../detection.ts';

/** Whole numbers that stand for one object: its score, then what the form says of its box. */
export const NUMBERS = 5;

/** Decimals of what stands for a centre when a box is shown. */
export const CENTRE_DECIMALS = 6;

/** A way to write scores and boxes as whole numbers from which the very same numbers come back. */
export interface FixedPoint {
  /** Writes the numbers of an object from `at` on; false when one would not come back as it was. */
  toIntegers: (object: TrackedObject, into: Int32Array, at: number) => boolean;
  scoreDecimals: number;
  /** Of width and height. */
  sizeDecimals: number;
  /** The centre in units of `CENTRE_DECIMALS`, from what is stored of it and the size beside it. */
  centreOf: (stored: number, size: number) => number;
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
  toIntegers: ({ score, bbox }, into, at) => {
    const s = integerOf(score, 1e4);
    const cx = integerOf(bbox.cx, 1e6);
    const cy = integerOf(bbox.cy, 1e6);
    const width = integerOf(bbox.width, 1e5);
    const height = integerOf(bbox.height, 1e5);
    if (s < 0 || cx < 0 || cy < 0 || width < 0 || height < 0 || cx % 5 !== 0 || cy % 5 !== 0) return false;
    const twiceLeft = cx / 5 - width;
    const twiceTop = cy / 5 - height;
    if (twiceLeft % 2 !== 0 || twiceTop % 2 !== 0) return false;
    into[at] = s;
    into[at + 1] = twiceLeft / 2;
    into[at + 2] = twiceTop / 2;
    into[at + 3] = width;
    into[at + 4] = height;
    return true;
  },
  scoreDecimals: 4,
  sizeDecimals: 5,
  centreOf: (edge, size) => 5 * (2 * edge + size),
};

/** Any numbers of at most six decimals. */
const centres: FixedPoint = {
  toIntegers: ({ score, bbox }, into, at) => {
    const all = [score, bbox.cx, bbox.cy, bbox.width, bbox.height].map((value) => integerOf(value, 1e6));
    if (all.includes(-1)) return false;
    into.set(all, at);
    return true;
  },
  scoreDecimals: 6,
  sizeDecimals: 6,
  centreOf: (centre) => centre,
};

/** By the number that stands in a segment; the first that fits all objects is taken. */
export const fixedPoints: readonly FixedPoint[] = [edges, centres];
