import type { BoundingBox, ImageSize } from '@vision/contracts/detection';
import type { RgbImage } from './rgb-image.ts';

/** A part of an image in whole pixels. */
export interface PixelBox {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Share of the size of a box that is shown around it. */
const MARGIN = 0.1;
/** A box that comes so near to the border of the image, as a share of its side, may be cut there. */
const NEAR_BORDER = 0.01;
const AT_BORDER = 0.5;
/** Variance of the Laplacian of a sharp image; what is above it is texture or noise and counts no more. */
const SHARP = 400;
/** A smooth object is not worthless. */
const LEAST_SHARPNESS = 0.1;
/** Pixels of a side that sharpness is measured at, so that its cost has a bound. */
const MOST_SAMPLES = 96;
/** A smaller part of an image shows nothing. */
const LEAST_SIDE = 8;

/** The part of an image that shows an object with some margin; undefined when it is too small to show anything. */
export function cropOf({ cx, cy, width, height }: BoundingBox, image: ImageSize): PixelBox | undefined {
  const halfWidth = width * (0.5 + MARGIN);
  const halfHeight = height * (0.5 + MARGIN);
  const left = Math.max(0, Math.floor((cx - halfWidth) * image.width));
  const top = Math.max(0, Math.floor((cy - halfHeight) * image.height));
  const right = Math.min(image.width, Math.ceil((cx + halfWidth) * image.width));
  const bottom = Math.min(image.height, Math.ceil((cy + halfHeight) * image.height));
  const box = { left, top, width: right - left, height: bottom - top };
  return box.width < LEAST_SIDE || box.height < LEAST_SIDE ? undefined : box;
}

/**
 * How well an image shows an object: its score, its size, whether it is whole, and how sharp it is. Larger is better;
 * values of one track compare, those of different streams do not.
 */
export function qualityOf(image: RgbImage, box: PixelBox, { score, bbox }: { score: number; bbox: BoundingBox }) {
  const size = Math.sqrt(bbox.width * bbox.height);
  const sharpness = Math.max(LEAST_SHARPNESS, Math.min(1, laplacianVariance(image, box) / SHARP));
  return score * size * (isNearBorder(bbox) ? AT_BORDER : 1) * sharpness;
}

function isNearBorder({ cx, cy, width, height }: BoundingBox): boolean {
  const [x, y] = [cx - width / 2, cy - height / 2];
  return x < NEAR_BORDER || y < NEAR_BORDER || x + width > 1 - NEAR_BORDER || y + height > 1 - NEAR_BORDER;
}

/** Variance of the Laplacian of the brightness, measured at a grid of pixels. A blurred image has a small one. */
export function laplacianVariance(image: RgbImage, { left, top, width, height }: PixelBox): number {
  const step = { x: Math.max(1, Math.floor(width / MOST_SAMPLES)), y: Math.max(1, Math.floor(height / MOST_SAMPLES)) };
  const brightness = (x: number, y: number) => brightnessAt(image, x, y);
  let [count, sum, squares] = [0, 0, 0];
  for (let y = top + 1; y < top + height - 1; y += step.y)
    for (let x = left + 1; x < left + width - 1; x += step.x) {
      const around = brightness(x - 1, y) + brightness(x + 1, y) + brightness(x, y - 1) + brightness(x, y + 1);
      const value = around - 4 * brightness(x, y);
      count += 1;
      sum += value;
      squares += value * value;
    }
  if (count === 0) return 0;
  const mean = sum / count;
  return squares / count - mean * mean;
}

function brightnessAt({ width, data }: RgbImage, x: number, y: number): number {
  const at = 3 * (y * width + x);
  return 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
}
