import type { ImageSize } from '@vision/contracts/detection';

/** Mean motion of a region in cells for each frame; `y` grows downwards, so what rises has a negative one. */
export interface Drift {
  x: number;
  y: number;
}

/**
 * One motion for all cells of a region over several frames, by least squares on the brightness constancy equation
 * (B. D. Lucas and T. Kanade, IJCAI 1981). Smoke has soft structures and moves about a cell from frame to frame, which
 * is what the equation holds for.
 */
export function measureDrift(
  planes: readonly Uint8Array[],
  cells: readonly number[],
  { width, height }: ImageSize,
): Drift {
  const sums = { xx: 0, xy: 0, yy: 0, xt: 0, yt: 0 };
  const inside = cells.filter((cell) => {
    const column = cell % width;
    const row = (cell - column) / width;
    return column > 0 && row > 0 && column < width - 1 && row < height - 1;
  });
  for (let index = 1; index < planes.length; index += 1) {
    const [before, after] = [planes[index - 1] as Uint8Array, planes[index] as Uint8Array];
    const at = (cell: number) => ((before[cell] as number) + (after[cell] as number)) / 2;
    for (const cell of inside) {
      const dx = (at(cell + 1) - at(cell - 1)) / 2;
      const dy = (at(cell + width) - at(cell - width)) / 2;
      const dt = (after[cell] as number) - (before[cell] as number);
      sums.xx += dx * dx;
      sums.xy += dx * dy;
      sums.yy += dy * dy;
      sums.xt += dx * dt;
      sums.yt += dy * dt;
    }
  }
  const determinant = sums.xx * sums.yy - sums.xy ** 2;
  if (determinant <= 1e-6 * sums.xx * sums.yy || determinant === 0) return { x: 0, y: 0 };
  return {
    x: (sums.xy * sums.yt - sums.yy * sums.xt) / determinant,
    y: (sums.xy * sums.xt - sums.xx * sums.yt) / determinant,
  };
}
