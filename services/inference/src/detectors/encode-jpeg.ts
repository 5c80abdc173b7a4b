import type { RgbImage } from '../domain/rgb-image.ts';
import { sharp } from './sharp-limits.ts';

const QUALITY = 78;

/** The image as a JPEG without metadata. The loaders of this process are blocked, so it can only be raw pixels. */
export async function encodeJpeg({ width, height, data }: RgbImage): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY })
    .toBuffer();
}
