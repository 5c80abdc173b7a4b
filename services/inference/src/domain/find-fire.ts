import type { ColourPlanes } from './colour-planes.ts';
import { boxBlur, differenceOf, meanOf } from './colour-planes.ts';
import { connectedRegions } from './connected-regions.ts';
import type { Region } from './connected-regions.ts';
import { combine, ramp, statisticsOf } from './evidence.ts';

export interface ScoredRegion {
  region: Region;
  score: number;
}

/** Smallest share of the picture that counts as a flame. */
const MIN_AREA = 0.0004;
/** Difference of the chroma planes that separates flames from reddish things (Çelik & Demirel 2009, τ). */
const MIN_CHROMA_GAP = 40;

/**
 * Flames by the YCbCr rules of T. Çelik and H. Demirel, "Fire detection in video sequences using a generic color
 * model", Fire Safety Journal 44 (2009): luma above blue chroma, red chroma above blue chroma and far from it,
 * brighter and redder than the picture as a whole. Fixed bounds stand in for the picture's means where flames fill
 * it. A region scores by how saturated, bright, uneven and varied in colour it is: painted surfaces and skin share
 * the colour, not the variation.
 */
export function findFire(planes: ColourPlanes): ScoredRegion[] {
  const texture = differenceOf(planes.y, boxBlur(planes.y, planes, 3));
  return flameRegions(planes, flameMask(planes)).map((region) => ({ region, score: scoreOf(region, planes, texture) }));
}

/** Connected parts of a flame mask that are large enough to say anything, largest first. */
export function flameRegions({ width, height }: ColourPlanes, mask: Uint8Array): Region[] {
  const least = Math.max(12, MIN_AREA * width * height);
  return connectedRegions(mask, { width, height }, 2).filter(({ pixels }) => pixels.length >= least);
}

/** Pixels in the colours of flames. */
export function flameMask({ y, cb, cr }: ColourPlanes): Uint8Array {
  const minY = Math.min(meanOf(y), 140);
  const maxCb = Math.max(meanOf(cb), 100);
  const minCr = Math.min(meanOf(cr), 150);
  const mask = new Uint8Array(y.length);
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    const luma = y[pixel] as number;
    const blue = cb[pixel] as number;
    const red = cr[pixel] as number;
    if (luma > blue && red - blue >= MIN_CHROMA_GAP && luma > minY && blue < maxCb && red > minCr) mask[pixel] = 1;
  }
  return mask;
}

function scoreOf({ pixels }: Region, { y, cb, cr, width, height }: ColourPlanes, texture: Float32Array): number {
  const [blue, red, luma] = [statisticsOf(cb, pixels), statisticsOf(cr, pixels), statisticsOf(y, pixels)];
  const look = combine(
    ramp(red.mean - blue.mean, 50, 95),
    ramp(luma.mean + luma.deviation, 130, 190),
    ramp(statisticsOf(texture, pixels).mean, 0.8, 4),
    ramp(red.deviation, 4, 14),
  );
  // Few pixels show neither texture nor the change from yellow to red reliably.
  const confidence = Math.cbrt(ramp(pixels.length / (width * height), 0, 0.006));
  return 0.98 * look * confidence;
}
