import type { DetectedObject } from '@vision/contracts/detection';
import { toColourPlanes } from './colour-planes.ts';
import { findFire } from './find-fire.ts';
import type { ScoredRegion } from './find-fire.ts';
import { findSmoke } from './find-smoke.ts';
import type { RgbImage } from './rgb-image.ts';
import { toBoundingBox, toScore } from './to-objects.ts';

export interface FireAndSmokeRequest {
  image: RgbImage;
  minScore: number;
  labels: readonly string[];
}

const MAX_OBJECTS = 50;

/** Fire and smoke by colour and texture of one picture, highest score first. Meant for pictures of about 320 pixels. */
export function detectFireAndSmoke({ image, minScore, labels }: FireAndSmokeRequest): DetectedObject[] {
  const planes = toColourPlanes(image);
  const found = [
    ...(labels.includes('fire') ? asObjects('fire', findFire(planes), image) : []),
    ...(labels.includes('smoke') ? asObjects('smoke', findSmoke(planes), image) : []),
  ];
  return found
    .filter(({ score }) => score >= minScore)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_OBJECTS);
}

function asObjects(label: string, regions: ScoredRegion[], { width, height }: RgbImage): DetectedObject[] {
  return regions.flatMap(({ region, score }) => {
    const bbox = toBoundingBox({
      left: region.left / width,
      top: region.top / height,
      right: region.right / width,
      bottom: region.bottom / height,
    });
    return bbox ? [{ label, score: toScore(score), bbox }] : [];
  });
}
