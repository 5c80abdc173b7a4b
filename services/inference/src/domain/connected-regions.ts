import type { ImageSize } from '@vision/contracts/detection';

/** Pixels that belong together; corners in whole pixels, `right` and `bottom` exclusive. */
export interface Region {
  pixels: number[];
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/**
 * Connected parts of a mask (eight neighbours), largest first. Gaps of up to `reach` pixels are bridged, so that the
 * tongues of one flame stay one region; bridged pixels join the region's extent but not its pixels.
 */
export function connectedRegions(mask: Uint8Array, { width, height }: ImageSize, reach: number): Region[] {
  const joined = dilate(mask, { width, height }, reach);
  const seen = new Uint8Array(mask.length);
  const regions: Region[] = [];
  for (let start = 0; start < joined.length; start += 1) {
    if (!joined[start] || seen[start]) continue;
    const region = { pixels: [] as number[], left: width, top: height, right: 0, bottom: 0 };
    const stack = [start];
    seen[start] = 1;
    while (stack.length > 0) {
      const pixel = stack.pop() as number;
      const x = pixel % width;
      const y = (pixel - x) / width;
      if (mask[pixel]) extend(region, pixel, { x, y });
      for (let ny = Math.max(0, y - 1); ny <= Math.min(height - 1, y + 1); ny += 1) {
        for (let nx = Math.max(0, x - 1); nx <= Math.min(width - 1, x + 1); nx += 1) {
          const next = ny * width + nx;
          if (!joined[next] || seen[next]) continue;
          seen[next] = 1;
          stack.push(next);
        }
      }
    }
    if (region.pixels.length > 0) regions.push(region);
  }
  return regions.sort((a, b) => b.pixels.length - a.pixels.length);
}

function extend(region: Region, pixel: number, { x, y }: { x: number; y: number }): void {
  region.pixels.push(pixel);
  region.left = Math.min(region.left, x);
  region.top = Math.min(region.top, y);
  region.right = Math.max(region.right, x + 1);
  region.bottom = Math.max(region.bottom, y + 1);
}

function dilate(mask: Uint8Array, { width, height }: ImageSize, reach: number): Uint8Array {
  if (reach === 0) return mask;
  const grown = new Uint8Array(mask.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (!mask[y * width + x]) continue;
      for (let ny = Math.max(0, y - reach); ny <= Math.min(height - 1, y + reach); ny += 1) {
        grown.fill(1, ny * width + Math.max(0, x - reach), ny * width + Math.min(width, x + reach + 1));
      }
    }
  }
  return grown;
}
