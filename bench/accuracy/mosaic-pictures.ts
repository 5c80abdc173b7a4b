import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseGroundTruth } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import sharp from 'sharp';
import type { LabelledImage } from './footage.ts';

/** The pictures that `make-mosaics.ts` made in a directory, or every n-th of them. */
export async function labelledMosaics(directory: string, every = 1): Promise<LabelledImage[]> {
  const truths = parseGroundTruth(JSON.parse(await readFile(join(directory, 'labels.json'), 'utf8')));
  // The detectors share this library and block its loaders.
  sharp.unblock({ operation: ['VipsForeignLoad'] });
  const images: LabelledImage[] = [];
  for (const truth of truths.filter((_, index) => index % every === 0)) {
    const { width, height } = truth;
    const data = await sharp(join(directory, truth.file)).removeAlpha().raw().toBuffer();
    images.push({ picture: { data, width, height }, truth });
  }
  return images;
}
