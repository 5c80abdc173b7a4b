import type { ImageSize } from '@vision/contracts/detection';

/** Pixels row by row, three bytes each (red, green, blue), no padding between rows. */
export interface RgbImage extends ImageSize {
  data: Uint8Array;
}
