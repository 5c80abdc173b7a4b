import type { TrackedObject } from '@vision/shared/contracts/detection';

/** Whole numbers that stand for one object: its score, then what the form says of its box. */
export const NUMBERS = 5;

/** A way to write scores and boxes as whole numbers from which the very same numbers come back. */
export interface FixedPoint {
  /** Writes the numbers of an object from `at` on; false when one would not come back as it was. */
  toIntegers: (object: TrackedObject, into: Int32Array, at: number) => boolean;
  scoreOf: (integer: number) => number;
  scoreText: (integer: number) => string;
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
 * The texts of the numbers 0 to 1 in units of 1/scale. Each is made once: a page has ten thousands of them, and writing
 * a number takes as long as everything else of an object. All texts of a process take a dozen megabytes at most.
 */
function textsOf(scale: number): (integer: number) => string {
  const texts: (string | undefined)[] = [];
  return (integer) => {
    // Only a segment that was damaged has others, and they are not to be remembered.
    if (integer < 0 || integer > scale) return String(integer / scale);
    return (texts[integer] ??= String(integer / scale));
  };
}

const centreText = textsOf(2e5);
const sizeText = textsOf(1e5);

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
  scoreOf: (integer) => integer / 1e4,
  scoreText: textsOf(1e4),
  boxText: (left, top, width, height) =>
    `"cx":${centreText(2 * left + width)},"cy":${centreText(2 * top + height)},` +
    `"width":${sizeText(width)},"height":${sizeText(height)}`,
};

/** Any numbers of at most six decimals. */
const centres: FixedPoint = {
  toIntegers: ({ score, bbox }, into, at) => {
    const all = [score, bbox.cx, bbox.cy, bbox.width, bbox.height].map((value) => integerOf(value, 1e6));
    if (all.includes(-1)) return false;
    into.set(all, at);
    return true;
  },
  scoreOf: (integer) => integer / 1e6,
  scoreText: (integer) => String(integer / 1e6),
  boxText: (cx, cy, width, height) =>
    `"cx":${cx / 1e6},"cy":${cy / 1e6},"width":${width / 1e6},"height":${height / 1e6}`,
};

/** By the number that stands in a segment; the first that fits all objects is taken. */
export const fixedPoints: readonly FixedPoint[] = [edges, centres];
