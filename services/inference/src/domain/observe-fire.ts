import type { ImageSize } from '@vision/contracts/detection';
import { boxBlur, differenceOf, toColourPlanes } from './colour-planes.ts';
import { flameMask, flameRegions } from './find-fire.ts';
import type { RgbImage } from './rgb-image.ts';

/** Side of a cell in pixels. */
export const CELL = 4;
/** Regions a frame can have: more are noise. */
const MAX_REGIONS = 20;

/** A part of a frame; `right` and `bottom` exclusive. */
export interface Corners {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/**
 * What one frame says about fire and smoke: means over cells of four by four pixels, a few kilobytes each, so that
 * a job can keep those of several seconds. All planes have one byte for each cell.
 */
export interface FireObservation {
  picture: ImageSize;
  /** Cells side by side and one above the other. */
  grid: ImageSize;
  /** Share of flame-coloured pixels, 0..255. */
  flame: Uint8Array;
  luma: Uint8Array;
  /** Brightness and red chroma of the flame-coloured pixels alone; 0 where there are none. */
  flameLuma: Uint8Array;
  flameRed: Uint8Array;
  /** Distance from grey, four steps for each of chroma. */
  colour: Uint8Array;
  /** Fine detail, eight steps for each of luma. */
  detail: Uint8Array;
  /** Flame-coloured regions in pixels of the picture, largest first. */
  flames: Corners[];
}

/** Looks at one frame of a video; needs no other frame. Meant for pictures of about 320 pixels. */
export function observeFire(image: RgbImage): FireObservation {
  const planes = toColourPlanes(image);
  const mask = flameMask(planes);
  const grid = { width: Math.ceil(image.width / CELL), height: Math.ceil(image.height / CELL) };
  const toCells = (plane: ArrayLike<number>, steps: number, only?: Uint8Array) =>
    cellMeans(plane, image, { grid, steps, only });
  const flames = flameRegions(planes, mask).slice(0, MAX_REGIONS);
  return {
    picture: { width: image.width, height: image.height },
    grid,
    flame: toCells(mask, 255),
    luma: toCells(planes.y, 1),
    flameLuma: toCells(planes.y, 1, mask),
    flameRed: toCells(planes.cr, 1, mask),
    colour: toCells(
      planes.cb.map((blue, pixel) => distanceFromGrey(blue, planes.cr[pixel] as number)),
      4,
    ),
    detail: toCells(differenceOf(planes.y, boxBlur(planes.y, planes, 1)), 8),
    flames: flames.map(({ left, top, right, bottom }) => ({ left, top, right, bottom })),
  };
}

/** The cells that a region of the picture touches, and one more on each side. */
export function cellsAround({ left, top, right, bottom }: Corners, grid: ImageSize): number[] {
  const cells: number[] = [];
  const [lastColumn, lastRow] = [Math.ceil(right / CELL), Math.ceil(bottom / CELL)];
  for (let row = Math.max(0, Math.floor(top / CELL) - 1); row <= Math.min(grid.height - 1, lastRow); row += 1) {
    const first = Math.max(0, Math.floor(left / CELL) - 1);
    for (let column = first; column <= Math.min(grid.width - 1, lastColumn); column += 1) {
      cells.push(row * grid.width + column);
    }
  }
  return cells;
}

/** A region of cells in pixels of the picture, as shares of it. */
export function shareOfPicture({ left, top, right, bottom }: Corners, { width, height }: ImageSize, side = 1): Corners {
  const across = (edge: number) => Math.min(1, (edge * side) / width);
  const down = (edge: number) => Math.min(1, (edge * side) / height);
  return { left: across(left), top: down(top), right: across(right), bottom: down(bottom) };
}

const distanceFromGrey = (blue: number, red: number) => Math.max(Math.abs(blue - 128), Math.abs(red - 128));

interface Averaging {
  grid: ImageSize;
  /** Steps for each of the plane. */
  steps: number;
  /** A mask of the pixels that count; all without it. */
  only?: Uint8Array | undefined;
}

function cellMeans(
  plane: ArrayLike<number>,
  { width, height }: ImageSize,
  { grid, steps, only }: Averaging,
): Uint8Array {
  const sums = new Float32Array(grid.width * grid.height);
  const counts = new Uint8Array(sums.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (only?.[y * width + x] === 0) continue;
      const cell = ((y / CELL) | 0) * grid.width + ((x / CELL) | 0);
      sums[cell] = (sums[cell] as number) + (plane[y * width + x] as number);
      counts[cell] = (counts[cell] as number) + 1;
    }
  }
  return Uint8Array.from(sums, (sum, cell) =>
    Math.min(255, Math.round((steps * sum) / ((counts[cell] as number) || 1))),
  );
}
