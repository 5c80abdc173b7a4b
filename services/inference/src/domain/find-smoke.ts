import type { ColourPlanes } from './colour-planes.ts';
import { boxBlur, differenceOf } from './colour-planes.ts';
import { connectedRegions } from './connected-regions.ts';
import type { Region } from './connected-regions.ts';
import { combine, ramp, statisticsOf } from './evidence.ts';
import type { ScoredRegion } from './find-fire.ts';

/** Smallest share of the picture that counts as smoke. */
const MIN_AREA = 0.008;
/** Farthest that smoke lies from grey, on either chroma plane. */
const MAX_CHROMA = 13;
/** Strongest fine detail inside smoke, in luma steps. */
const MAX_DETAIL = 5;

/**
 * Smoke: greyish, of middle to high brightness (Çelik, Özkaramanlı & Demirel, EUSIPCO 2007), without fine detail,
 * yet uneven on a larger scale, and with edges that fade. Road, wall and clear sky share the first three but are
 * flat or change evenly, so what remains after the best plane through the brightness is taken away decides; hard
 * edges speak against smoke.
 */
export function findSmoke(planes: ColourPlanes): ScoredRegion[] {
  const detail = boxBlur(differenceOf(planes.y, boxBlur(planes.y, planes, 1)), planes, 2);
  const mask = smokeMask(planes, detail);
  const soft = boxBlur(planes.y, planes, 4);
  const total = planes.width * planes.height;
  return connectedRegions(mask, planes, 0)
    .filter(({ pixels }) => pixels.length >= MIN_AREA * total)
    .map((region) => ({ region, score: scoreOf(region, planes, { mask, detail, soft }) }));
}

function smokeMask({ y, cb, cr }: ColourPlanes, detail: Float32Array): Uint8Array {
  const mask = new Uint8Array(y.length);
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    const luma = y[pixel] as number;
    const chroma = Math.max(Math.abs((cb[pixel] as number) - 128), Math.abs((cr[pixel] as number) - 128));
    if (chroma < MAX_CHROMA && luma > 60 && luma < 240 && (detail[pixel] as number) < MAX_DETAIL) mask[pixel] = 1;
  }
  return mask;
}

interface SmokePlanes {
  mask: Uint8Array;
  detail: Float32Array;
  soft: Float32Array;
}

function scoreOf(region: Region, planes: ColourPlanes, { mask, detail, soft }: SmokePlanes): number {
  const { pixels } = region;
  const fill = pixels.length / ((region.right - region.left) * (region.bottom - region.top));
  return (
    0.95 *
    combine(
      ramp(statisticsOf(detail, pixels).mean, 3.5, 1.2),
      ramp(unevenness(pixels, soft, planes.width), 3, 10),
      ramp(edgeStep(pixels, mask, planes), 22, 8),
      ramp(fill, 0.2, 0.5),
      ramp(pixels.length / (planes.width * planes.height), 0, 0.03),
    )
  );
}

/** Standard deviation of a plane over a region after its least-squares plane a + b·x + c·y is taken away. */
function unevenness(pixels: readonly number[], plane: Float32Array, width: number): number {
  const [count, mean] = [pixels.length, { x: 0, y: 0, v: 0 }];
  for (const pixel of pixels) {
    mean.x += (pixel % width) / count;
    mean.y += Math.floor(pixel / width) / count;
    mean.v += (plane[pixel] as number) / count;
  }
  const sums = { xx: 0, yy: 0, xy: 0, xv: 0, yv: 0, vv: 0 };
  for (const pixel of pixels) {
    const x = (pixel % width) - mean.x;
    const y = Math.floor(pixel / width) - mean.y;
    const v = (plane[pixel] as number) - mean.v;
    sums.xx += x * x;
    sums.yy += y * y;
    sums.xy += x * y;
    sums.xv += x * v;
    sums.yv += y * v;
    sums.vv += v * v;
  }
  const determinant = sums.xx * sums.yy - sums.xy ** 2;
  const b = determinant > 0 ? (sums.xv * sums.yy - sums.yv * sums.xy) / determinant : 0;
  const c = determinant > 0 ? (sums.yv * sums.xx - sums.xv * sums.xy) / determinant : 0;
  return Math.sqrt(Math.max(0, sums.vv - b * sums.xv - c * sums.yv) / count);
}

/**
 * Mean change of brightness and colour across the edge of a region, over six pixels; edges of the picture do not count.
 */
function edgeStep(pixels: readonly number[], mask: Uint8Array, { width, height, y, cb, cr }: ColourPlanes): number {
  const reach = 3;
  let steps = 0;
  let edges = 0;
  const stepBetween = (a: number, b: number) =>
    Math.abs((y[a] as number) - (y[b] as number)) +
    Math.abs((cb[a] as number) - (cb[b] as number)) +
    Math.abs((cr[a] as number) - (cr[b] as number));
  for (const pixel of pixels) {
    const column = pixel % width;
    const row = (pixel - column) / width;
    if (column < reach || row < reach || column >= width - reach || row >= height - reach) continue;
    for (const offset of [1, width]) {
      if (mask[pixel - offset] && mask[pixel + offset]) continue;
      steps += stepBetween(pixel - reach * offset, pixel + reach * offset);
      edges += 1;
    }
  }
  return edges === 0 ? 0 : steps / edges;
}
