import { correctAxis, predictAxis, startAxis } from './kalman.ts';
import type { AxisState } from './kalman.ts';

/** A box in centre form; every value is a part of the image's width or height. */
export interface Box {
  cx: number;
  cy: number;
  width: number;
  height: number;
}

/** Where a box is believed to be and how it moves. */
export interface BoxMotion {
  cx: AxisState;
  cy: AxisState;
  width: AxisState;
  height: AxisState;
}

// In parts of the box's own size, as in DeepSORT and ByteTrack, so that near and far objects are treated alike.
const POSITION_STD = 0.05;
const START_SPEED_STD = 1;
const TURN_STD = 1;
const SIZE_STD = 0.08;
const SIZE_TURN_STD = 0.15;
// A detector that is unsure about the object is unsure about its edges.
const UNSURE_FACTOR = 2;

export function startMotion(box: Box): BoxMotion {
  const { width: w, height: h } = box;
  return {
    cx: startAxis(box.cx, POSITION_STD * w, START_SPEED_STD * w),
    cy: startAxis(box.cy, POSITION_STD * h, START_SPEED_STD * h),
    width: startAxis(w, SIZE_STD * w, SIZE_TURN_STD * w),
    height: startAxis(h, SIZE_STD * h, SIZE_TURN_STD * h),
  };
}

/** The motion `seconds` later. Sizes keep still: a size that runs on through a gap soon leaves the image. */
export function predictMotion(motion: BoxMotion, seconds: number): BoxMotion {
  const w = motion.width.value;
  const h = motion.height.value;
  return {
    cx: predictAxis(motion.cx, seconds, TURN_STD * w),
    cy: predictAxis(motion.cy, seconds, TURN_STD * h),
    width: predictAxis({ ...motion.width, velocity: 0 }, seconds, SIZE_TURN_STD * w),
    height: predictAxis({ ...motion.height, velocity: 0 }, seconds, SIZE_TURN_STD * h),
  };
}

export function correctMotion(motion: BoxMotion, box: Box, isSure: boolean): BoxMotion {
  const factor = isSure ? 1 : UNSURE_FACTOR;
  return {
    cx: correctAxis(motion.cx, box.cx, factor * POSITION_STD * box.width),
    cy: correctAxis(motion.cy, box.cy, factor * POSITION_STD * box.height),
    width: correctAxis(motion.width, box.width, factor * SIZE_STD * box.width),
    height: correctAxis(motion.height, box.height, factor * SIZE_STD * box.height),
  };
}

export function boxOf(motion: BoxMotion): Box {
  return {
    cx: motion.cx.value,
    cy: motion.cy.value,
    width: Math.max(motion.width.value, 1e-6),
    height: Math.max(motion.height.value, 1e-6),
  };
}

/**
 * Intersection over union after growing both boxes by `buffer` of their size on every side. With a buffer, boxes that
 * moved apart between two sparse samples can still meet.
 *
 * Source: F. Yang et al., "Hard to Track Objects with Irregular Motions and Similar Appearances? Make It Easier by
 * Buffering the Matching Space" (WACV 2023), §3.1.
 */
export function bufferedIou(a: Box, b: Box, buffer: number): number {
  const grow = 1 + 2 * buffer;
  const overlapX = overlap(a.cx, a.width * grow, b.cx, b.width * grow);
  const overlapY = overlap(a.cy, a.height * grow, b.cy, b.height * grow);
  const shared = overlapX * overlapY;
  return shared / ((a.width * a.height + b.width * b.height) * grow ** 2 - shared || 1);
}

function overlap(centreA: number, sizeA: number, centreB: number, sizeB: number): number {
  const right = Math.min(centreA + sizeA / 2, centreB + sizeB / 2);
  const left = Math.max(centreA - sizeA / 2, centreB - sizeB / 2);
  return Math.max(0, right - left);
}
