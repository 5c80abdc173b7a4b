import type { ImageSize } from '@vision/contracts/detection';
import type { RgbImage } from '../domain/rgb-image.ts';
import { sharp } from './sharp-limits.ts';

/** The image at exactly this size; the same object when it has it already. */
export async function scaleTo(image: RgbImage, { width, height }: ImageSize): Promise<RgbImage> {
  if (image.width === width && image.height === height) return image;
  const raw = { width: image.width, height: image.height, channels: 3 as const };
  const data = await sharp(image.data, { raw })
    .resize(width, height, { fit: 'fill', kernel: 'linear' })
    .raw()
    .toBuffer();
  return { width, height, data };
}
