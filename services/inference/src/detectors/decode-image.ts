import { createGate } from '@vision/shared/async/gate';
import type { ImageSize } from '@vision/shared/contracts/detection';
import type { RgbImage } from '../domain/rgb-image.ts';
import { sniffImageType } from '../domain/sniff-image-type.ts';
import { stripPngMetadata } from '../domain/strip-png-metadata.ts';
import { ImageRefusedError } from '../domain/image-error.ts';
import { decodeScaled } from './decode-scaled.ts';
import { MAX_PIXELS, sharp } from './sharp-limits.ts';

export interface DecodedImage {
  /** Size of the picture as a person sees it, after orientation. */
  original: ImageSize;
  /** Scaled to what `fit` asked for. */
  image: RgbImage;
}

const LARGE_PIXELS = 12_000_000;
// Interlaced and progressive pictures are unpacked whole (up to 400 MB at the pixel limit), so large ones take turns.
const largeImages = createGate({ concurrency: 1, queue: 1000 });

/** A picture whose header was read: what a decoder needs, and nothing is unpacked yet. */
export interface MeasuredImage {
  /** The bytes to decode; those that were sent, or a copy without what a decoder should not see. */
  bytes: Uint8Array;
  /** Size of the picture as a person sees it, after orientation. */
  original: ImageSize;
}

/**
 * Knows JPEG, PNG and WebP by their leading bytes and reads the size from the header.
 * @throws ImageRefusedError for anything else, and for more than 50 megapixels.
 */
export async function measureImage(sent: Uint8Array): Promise<MeasuredImage> {
  const type = sniffImageType(sent);
  if (type === undefined) throw new ImageRefusedError('not_an_image');
  const bytes = type === 'png' ? stripPngMetadata(sent) : sent;
  const original = await orientedSize(bytes);
  if (original.width * original.height > MAX_PIXELS) throw new ImageRefusedError('too_many_pixels');
  return { bytes, original };
}

/** Whether unpacking a picture of this size takes so much memory that such pictures have to take turns. */
export const isLarge = ({ width, height }: ImageSize): boolean => width * height > LARGE_PIXELS;

/**
 * Decodes JPEG, PNG or WebP by its leading bytes: first frame, EXIF orientation applied, transparency on white, 8-bit
 * sRGB, scaled while decoding to the size that `fit` returns for the oriented size, so memory follows the model, not
 * the picture.
 * @throws ImageRefusedError for anything that is no complete picture of these types within 50 megapixels.
 */
export async function decodeImage(sent: Uint8Array, fit: (original: ImageSize) => ImageSize): Promise<DecodedImage> {
  const measured = await measureImage(sent);
  return { original: measured.original, image: await decodeMeasured(measured, fit) };
}

/** @throws ImageRefusedError `not_decodable`. */
export async function decodeMeasured(
  { bytes, original }: MeasuredImage,
  fit: (original: ImageSize) => ImageSize,
): Promise<RgbImage> {
  const decode = () => decodeScaled(bytes, fit(original));
  return isLarge(original) ? largeImages.run(decode) : decode();
}

/** Size from the header; nothing is unpacked for it. */
async function orientedSize(bytes: Uint8Array): Promise<ImageSize> {
  try {
    const { width, height, pageHeight, autoOrient } = await sharp(bytes, { limitInputPixels: false }).metadata();
    return { width: autoOrient.width || width, height: pageHeight ?? (autoOrient.height || height) };
  } catch (cause) {
    throw new ImageRefusedError('not_decodable', cause);
  }
}
