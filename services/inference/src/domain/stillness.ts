import type { RgbImage } from './rgb-image.ts';

/** Side of the compared squares: the finest cells in which the embedded model detects objects. */
const CELL = 8;
/** Single pixels may differ by this factor more than the mean of their cell, in which camera noise averages out. */
const NOISE = 3;

/**
 * Whether two images of one size show the same scene. They are compared by squares of 8 × 8 pixels and by colour: a
 * square whose mean moved by `leastChange` levels of 255, or whose pixels moved by three times as much, is a change. So
 * a small moving object is a change at every position, and camera noise (up to a deviation of about `leastChange`) is
 * not. A doubtful difference counts as a change.
 */
export function isStill(before: RgbImage, now: RgbImage, leastChange: number): boolean {
  if (before.width !== now.width || before.height !== now.height) return false;
  for (let top = 0; top < now.height; top += CELL) {
    for (let left = 0; left < now.width; left += CELL) {
      if (hasChanged(before, now, { top, left, leastChange })) return false;
    }
  }
  return true;
}

function hasChanged(
  { data: old, width, height }: RgbImage,
  { data }: RgbImage,
  { top, left, leastChange }: { top: number; left: number; leastChange: number },
): boolean {
  const right = Math.min(left + CELL, width);
  const bottom = Math.min(top + CELL, height);
  let red = 0;
  let green = 0;
  let blue = 0;
  let moved = 0;
  for (let y = top; y < bottom; y += 1) {
    for (let at = (y * width + left) * 3; at < (y * width + right) * 3; at += 3) {
      const r = (data[at] as number) - (old[at] as number);
      const g = (data[at + 1] as number) - (old[at + 1] as number);
      const b = (data[at + 2] as number) - (old[at + 2] as number);
      red += r;
      green += g;
      blue += b;
      moved += Math.abs(r) + Math.abs(g) + Math.abs(b);
    }
  }
  const least = leastChange * (right - left) * (bottom - top);
  return Math.abs(red) >= least || Math.abs(green) >= least || Math.abs(blue) >= least || moved >= 3 * NOISE * least;
}
