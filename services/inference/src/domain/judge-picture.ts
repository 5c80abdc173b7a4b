import { judgeJpeg } from './judge-jpeg.ts';
import { judgePng } from './judge-png.ts';
import { judgeWebp } from './judge-webp.ts';
import { ImageRefusedError } from './image-error.ts';
import { MAX_PIXELS, MAX_SIDE } from './picture-limits.ts';
import { sniffImageType } from './sniff-image-type.ts';

export interface JudgedPicture {
  type: 'jpeg' | 'png' | 'webp';
  /** As stored, before orientation. */
  width: number;
  height: number;
}

const judges = { jpeg: judgeJpeg, png: judgePng, webp: judgeWebp };

/**
 * Looks at the structure of a picture without unpacking anything: what it declares must be within what a decoder is
 * given to do. What is broken in other ways is left to the decoder.
 * @throws ImageRefusedError `not_an_image`, `too_many_pixels`, `not_decodable`.
 */
export function judgePicture(bytes: Uint8Array): JudgedPicture {
  const type = sniffImageType(bytes);
  if (type === undefined) throw new ImageRefusedError('not_an_image');
  const { width, height } = judges[type](Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (width < 1 || height < 1) throw new ImageRefusedError('not_decodable');
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    throw new ImageRefusedError('too_many_pixels');
  return { type, width, height };
}
