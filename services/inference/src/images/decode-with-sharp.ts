import sharp from 'sharp';
import { MAX_PIXELS } from '../domain/image-limits.ts';

// No libvips loader but these three can ever be reached: SVG, TIFF, PDF and the rest stay shut even if a check before
// them fails.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
});
// One image at a time in this process, so libvips keeps no cache and no threads.
sharp.cache(false);
sharp.concurrency(1);

interface Size {
  width: number;
  height: number;
}

/** Size as a person sees it, after orientation, from the header; nothing is unpacked for it. */
export async function orientedSize(bytes: Buffer): Promise<Size> {
  const { width, height, pageHeight, autoOrient } = await sharp(bytes, { limitInputPixels: false }).metadata();
  return { width: autoOrient.width || width, height: pageHeight ?? (autoOrient.height || height) };
}

/**
 * The first frame of an image at the given size: orientation applied, transparency on white, 8-bit sRGB, three bytes a
 * pixel. Scaled while decoding, so memory follows the wanted size as far as the format allows.
 */
export async function decodeScaled(bytes: Buffer, { width, height }: Size): Promise<Buffer> {
  const data = await sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true })
    .autoOrient()
    .resize(width, height, { fit: 'fill', kernel: 'linear' })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer();
  if (data.length !== width * height * 3) throw new Error(`decoded to ${data.length} bytes`);
  return data;
}
