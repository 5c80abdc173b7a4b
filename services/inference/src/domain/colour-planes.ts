import type { ImageSize } from '@vision/contracts/detection';
import type { RgbImage } from './rgb-image.ts';

/**
 * Luma and chroma of every pixel, full range 0..255 (ITU-R BT.601, as JPEG uses it); `cb` and `cr` are 128 for grey.
 */
export interface ColourPlanes extends ImageSize {
  y: Float32Array;
  cb: Float32Array;
  cr: Float32Array;
}

export function toColourPlanes({ width, height, data }: RgbImage): ColourPlanes {
  const size = width * height;
  const planes = { width, height, y: new Float32Array(size), cb: new Float32Array(size), cr: new Float32Array(size) };
  for (let pixel = 0, at = 0; pixel < size; pixel += 1, at += 3) {
    const r = data[at] as number;
    const g = data[at + 1] as number;
    const b = data[at + 2] as number;
    planes.y[pixel] = 0.299 * r + 0.587 * g + 0.114 * b;
    planes.cb[pixel] = 128 - 0.168736 * r - 0.331264 * g + 0.5 * b;
    planes.cr[pixel] = 128 + 0.5 * r - 0.418688 * g - 0.081312 * b;
  }
  return planes;
}

/** Mean of a plane. */
export function meanOf(plane: Float32Array): number {
  let sum = 0;
  for (const value of plane) sum += value;
  return sum / Math.max(1, plane.length);
}

/** Mean over the square of `2 * radius + 1` pixels around each pixel; squares are cut at the edge of the picture. */
export function boxBlur(plane: Float32Array, { width, height }: ImageSize, radius: number): Float32Array {
  // Summed-area table with a row and a column of zeros in front.
  const sums = new Float64Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y += 1) {
    let row = 0;
    for (let x = 0; x < width; x += 1) {
      row += plane[y * width + x] as number;
      sums[(y + 1) * (width + 1) + x + 1] = (sums[y * (width + 1) + x + 1] as number) + row;
    }
  }
  const blurred = new Float32Array(plane.length);
  for (let y = 0; y < height; y += 1) {
    const top = Math.max(0, y - radius) * (width + 1);
    const bottom = Math.min(height, y + radius + 1) * (width + 1);
    for (let x = 0; x < width; x += 1) {
      const left = Math.max(0, x - radius);
      const right = Math.min(width, x + radius + 1);
      const count = ((bottom - top) / (width + 1)) * (right - left);
      const sum =
        (sums[bottom + right] as number) -
        (sums[top + right] as number) -
        (sums[bottom + left] as number) +
        (sums[top + left] as number);
      blurred[y * width + x] = sum / count;
    }
  }
  return blurred;
}

/** Absolute difference of two planes of one size. */
export function differenceOf(a: Float32Array, b: Float32Array): Float32Array {
  const difference = new Float32Array(a.length);
  for (let index = 0; index < a.length; index += 1)
    difference[index] = Math.abs((a[index] as number) - (b[index] as number));
  return difference;
}
