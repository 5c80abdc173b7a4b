import { correctAxis, predictAxis, startAxis } from './kalman.ts';
import type { AxisState } from './kalman.ts';

/** A box in centre form; every value is a fraction of the frame's width or height. */
export interface Box {
  cx: number;
  cy: number;
  width: number;
  height: number;
}

/** Estimated position and velocity of a box. */
export interface BoxMotion {
  cx: AxisState;
  cy: AxisState;
  width: AxisState;
  height: AxisState;
}

/*
 * As fractions of the box's height on both axes, as in DeepSORT and ByteTrack: near and far objects are treated alike,
 * and the width of a walking person changes with every step. The velocity is uncertain at first (a car moves several
 * of its heights in a second) and soon known, because moving objects keep moving. Chosen by the benchmark `tracking`.
 */
const POSITION_STD = 0.05;
const START_SPEED_STD = 5;
const DRIFT_STD = 0.1;
const TURN_STD = 0.15;
const SIZE_STD = 0.12;
const SIZE_DRIFT_STD = 0.15;

/** @param aspect width of the frame divided by its height: a box's height is a fraction of the frame's height */
export function startMotion(box: Box, aspect: number): BoxMotion {
  const { width: w, height: h } = box;
  return {
    cx: startAxis(box.cx, (POSITION_STD * h) / aspect, (START_SPEED_STD * h) / aspect),
    cy: startAxis(box.cy, POSITION_STD * h, START_SPEED_STD * h),
    width: startAxis(w, SIZE_STD * w, 0),
    height: startAxis(h, SIZE_STD * h, 0),
  };
}

/** The motion `seconds` later. Sizes have no velocity: extrapolated over a gap, a box would soon outgrow the frame. */
export function predictMotion(motion: BoxMotion, seconds: number, aspect: number): BoxMotion {
  const { width: w, height: h } = boxOf(motion);
  return {
    cx: predictAxis(motion.cx, seconds, { drift: (DRIFT_STD * h) / aspect, turn: (TURN_STD * h) / aspect }),
    cy: predictAxis(motion.cy, seconds, { drift: DRIFT_STD * h, turn: TURN_STD * h }),
    width: predictAxis(motion.width, seconds, { drift: SIZE_DRIFT_STD * w, turn: 0 }),
    height: predictAxis(motion.height, seconds, { drift: SIZE_DRIFT_STD * h, turn: 0 }),
  };
}

/**
 * The motion after a detection. A low score means that the edges of the box are uncertain too.
 *
 * Source: Y. Du et al., "GIAOTracker" (2021), §3.3 (NSA Kalman), for the noise that follows the score.
 */
export function correctMotion(motion: BoxMotion, box: Box, score: number, aspect: number): BoxMotion {
  const { width: w, height: h } = box;
  const doubt = 1 + DOUBT * Math.max(0, SURE_OF_EDGES - score);
  return {
    cx: correctAxis(motion.cx, box.cx, (doubt * POSITION_STD * h) / aspect),
    cy: correctAxis(motion.cy, box.cy, doubt * POSITION_STD * h),
    width: correctAxis(motion.width, w, doubt * SIZE_STD * w),
    height: correctAxis(motion.height, h, doubt * SIZE_STD * h),
  };
}

const SURE_OF_EDGES = 0.8;
const DOUBT = 0.5;

export function boxOf(motion: BoxMotion): Box {
  return {
    cx: motion.cx.value,
    cy: motion.cy.value,
    width: Math.max(motion.width.value, 1e-6),
    height: Math.max(motion.height.value, 1e-6),
  };
}

/** Possible distance of an object from its estimated position, as a fraction of its width. */
export function uncertainty({ cx, width }: BoxMotion): number {
  return Math.sqrt(cx.varValue) / Math.max(width.value, 1e-6);
}

/**
 * Intersection over union after growing both boxes by `buffer` of their size on every side. With a buffer, boxes that
 * moved apart between two sparse samples can still overlap.
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
