import type { ImageSize } from '@vision/shared/contracts/detection';
import { ImageRefusedError } from '../domain/image-error.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { MAX_PIXELS, sharp } from './sharp-limits.ts';

// Well below the time callers wait, so that a picture that cannot be decoded in time is refused instead of looking like
// a failing backend.
const DECODE_SECONDS = 10;

/** One measured picture, scaled to the given size. @throws ImageRefusedError `not_decodable`. */
export async function decodeScaled(bytes: Uint8Array, { width, height }: ImageSize): Promise<RgbImage> {
  try {
    const data = await sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true })
      .timeout({ seconds: DECODE_SECONDS })
      .autoOrient()
      .resize(width, height, { fit: 'fill', kernel: 'linear' })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .removeAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer();
    if (data.length !== width * height * 3) throw new Error(`decoded to ${data.length} bytes`);
    return { width, height, data };
  } catch (cause) {
    throw new ImageRefusedError('not_decodable', cause);
  }
}
