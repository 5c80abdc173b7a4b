import { judgeJpeg } from './judge-jpeg.ts';
import { judgePng } from './judge-png.ts';
import { judgeWebp } from './judge-webp.ts';
import { ImageRefusedError } from './image-error.ts';
import { MAX_PIXELS, MAX_SIDE, ORDINARY_MS } from './picture-limits.ts';
import type { Judgement } from './judgement.ts';
import { sniffImageType } from './sniff-image-type.ts';

/** Width and height are as stored, before orientation. */
export interface JudgedPicture extends Judgement {
  type: 'jpeg' | 'png' | 'webp';
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
  const judged = judges[type](Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { width, height } = judged;
  if (width < 1 || height < 1) throw new ImageRefusedError('not_decodable');
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    throw new ImageRefusedError('too_many_pixels');
  return { type, ...judged };
}

/** Whether decoding it should take about as long as detecting on it, and no longer. */
export const isOrdinary = ({ expectedMs }: Judgement): boolean => expectedMs <= ORDINARY_MS;
