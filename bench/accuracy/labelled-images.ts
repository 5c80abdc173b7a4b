import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseGroundTruth } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import type { Corners, GroundTruth } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import sharp from 'sharp';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import { loadClip } from '../tracking/clip.ts';

/** A picture and the people that somebody boxed in it. */
export interface LabelledImage {
  picture: RgbImage;
  truth: GroundTruth;
  /** Of something found in this picture: its box in pixels. */
  toCorners: (found: Pick<DetectedObject, 'label' | 'score' | 'bbox'>) => FoundBox;
}

interface FoundBox {
  label: string;
  score: number;
  box: Corners;
}

/** The example clip, and what is in the folders that are named: mosaics, and the photographs of `photos.json`. */
export async function labelledImages(folders: {
  mosaics: string | undefined;
  photographs: string | undefined;
}): Promise<{ title: string; images: LabelledImage[] }[]> {
  const { mosaics, photographs } = folders;
  const labelsOfPhotographs = join(import.meta.dirname, 'photos.json');
  return [
    { title: 'street.mp4', images: await clipImages() },
    ...(mosaics ? [{ title: 'mosaics', images: await imagesIn(mosaics, join(mosaics, 'labels.json')) }] : []),
    ...(photographs ? [{ title: 'photographs', images: await imagesIn(photographs, labelsOfPhotographs) }] : []),
  ];
}

async function clipImages(): Promise<LabelledImage[]> {
  const { pictures, people } = await loadClip();
  return pictures.map((picture, index) => {
    const objects = (people[index] ?? []).map(({ bbox }) => ({ label: 'person', box: cornersOf(bbox, picture) }));
    const { width, height } = picture;
    return labelled(picture, { file: String(index), width, height, objects, ignored: [] });
  });
}

async function imagesIn(folder: string, labels: string): Promise<LabelledImage[]> {
  // The detectors share this library and block its loaders.
  sharp.unblock({ operation: ['VipsForeignLoad'] });
  const truths = parseGroundTruth(JSON.parse(await readFile(labels, 'utf8')));
  const images: LabelledImage[] = [];
  for (const truth of truths) {
    const data = await sharp(join(folder, truth.file)).removeAlpha().raw().toBuffer();
    images.push(labelled({ data, width: truth.width, height: truth.height }, truth));
  }
  return images;
}

const labelled = (picture: RgbImage, truth: GroundTruth): LabelledImage => ({
  picture,
  truth,
  toCorners: ({ label, score, bbox }) => ({ label, score, box: cornersOf(bbox, picture) }),
});

function cornersOf({ cx, cy, width, height }: Omit<DetectedObject['bbox'], 'format'>, picture: ImageSize): Corners {
  return {
    left: (cx - width / 2) * picture.width,
    top: (cy - height / 2) * picture.height,
    right: (cx + width / 2) * picture.width,
    bottom: (cy + height / 2) * picture.height,
  };
}
