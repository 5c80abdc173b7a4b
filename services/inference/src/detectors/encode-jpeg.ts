import { TRACK_SNAPSHOT_SIDE } from '@vision/contracts/track-snapshots';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { PixelBox } from '../domain/snapshot-quality.ts';
import { sharp } from './sharp-limits.ts';

const QUALITY = 78;

/** The image as a JPEG without metadata. The loaders of this process are blocked, so it can only be raw pixels. */
export async function encodeJpeg({ width, height, data }: RgbImage): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY })
    .toBuffer();
}

/** An encoded image with its size. */
export interface Jpeg {
  data: Buffer;
  width: number;
  height: number;
}

/** A part of an image as a JPEG without metadata, in the size of a snapshot of a track at most. */
export async function encodePart({ width, height, data }: RgbImage, box: PixelBox): Promise<Jpeg> {
  const encoded = await sharp(data, { raw: { width, height, channels: 3 } })
    .extract(box)
    .resize(TRACK_SNAPSHOT_SIDE, TRACK_SNAPSHOT_SIDE, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true });
  return { data: encoded.data, width: encoded.info.width, height: encoded.info.height };
}
