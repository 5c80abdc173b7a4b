import { inspectJpeg } from './inspect-jpeg.ts';
import { inspectPng } from './inspect-png.ts';
import { inspectWebp } from './inspect-webp.ts';
import { ImageRefusedError } from './image-error.ts';
import { MAX_PIXELS, MAX_SIDE, ORDINARY_MS } from './image-limits.ts';
import type { Inspection } from './inspection.ts';
import { sniffImageType } from './sniff-image-type.ts';

/** Width and height are as stored, before orientation. */
export interface InspectedImage extends Inspection {
  type: 'jpeg' | 'png' | 'webp';
}

const inspectors = { jpeg: inspectJpeg, png: inspectPng, webp: inspectWebp };

/**
 * Looks at the structure of an image without unpacking anything: what it declares must be within what a decoder is
 * given to do. What is broken in other ways is left to the decoder.
 * @throws ImageRefusedError `not_an_image`, `too_many_pixels`, `not_decodable`.
 */
export function inspectImage(bytes: Uint8Array): InspectedImage {
  const type = sniffImageType(bytes);
  if (type === undefined) throw new ImageRefusedError('not_an_image');
  const inspected = inspectors[type](Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { width, height } = inspected;
  if (width < 1 || height < 1) throw new ImageRefusedError('not_decodable');
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    throw new ImageRefusedError('too_many_pixels');
  return { type, ...inspected };
}

/** Whether decoding it should take about as long as detecting on it, and no longer. */
export const isOrdinary = ({ expectedMs }: Inspection): boolean => expectedMs <= ORDINARY_MS;
