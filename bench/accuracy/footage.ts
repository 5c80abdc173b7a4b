import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DetectedImage } from '../../packages/visionctl/src/calibration/fit-calibration.ts';
import type { EvaluatedBox } from '../../packages/visionctl/src/calibration/evaluate-boxes.ts';
import type { Corners, GroundTruth } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import { curveOf, rawScoreOf } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { ImageSize } from '@vision/contracts/detection';
import { loadScenes } from '@vision/shared/scenes';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import type { Box } from '../../services/inference/src/tracking/box-motion.ts';
import { loadClip } from '../tracking/clip.ts';
import { withDetector } from '../tracking/with-detector.ts';
import type { Detect } from '../tracking/with-detector.ts';

const registry = join(import.meta.dirname, '../../config/scenes.json');

/** The calibration of the embedded model in the registry that ships. @throws Error when there is none */
export function calibrationInForce(): Calibration {
  const found = loadScenes(registry).detectors['nanodet-416']?.calibration;
  if (!found) throw new Error('the embedded model has no calibration');
  return found;
}

/** A picture whose people somebody has boxed. */
export interface LabelledImage {
  picture: RgbImage;
  truth: GroundTruth;
}

/** Every picture of `examples/street.mp4`. */
export async function labelledClip(): Promise<LabelledImage[]> {
  const { pictures, people, width, height } = await loadClip();
  return pictures.map((picture, index) => {
    const objects = (people[index] ?? []).map(({ bbox }) => ({ label: 'person', box: cornersOf(bbox, picture) }));
    return { picture, truth: { file: String(index), width, height, objects, ignored: [] } };
  });
}

/** What the detector finds in pictures, with the scores that callers see. */
export async function detectIn(images: readonly LabelledImage[], detect: Detect): Promise<DetectedImage[]> {
  const detected: DetectedImage[] = [];
  for (const { picture, truth } of images) {
    const found = await detect(picture);
    detected.push({
      truth,
      found: found.map(({ label, score, bbox }) => ({ label, score, box: cornersOf(bbox, picture) })),
    });
  }
  return detected;
}

/** The people in every picture of the clip, and what the detector finds, with raw scores. */
export async function detectedClip(): Promise<DetectedImage[]> {
  const images = await labelledClip();
  const detected = await withDetector((detect) => detectIn(images, detect));
  const curve = curveOf(calibrationInForce(), 'person');
  return detected.map(({ truth, found }) => ({
    truth,
    found: found.map((box) => ({ ...box, score: rawScoreOf(curve, box.score) })),
  }));
}

function cornersOf({ cx, cy, width, height }: Box, picture: ImageSize): Corners {
  return {
    left: (cx - width / 2) * picture.width,
    top: (cy - height / 2) * picture.height,
    right: (cx + width / 2) * picture.width,
    bottom: (cy + height / 2) * picture.height,
  };
}

/** What `measure-mosaics.ts` wrote: raw score and right (1) or wrong (0) of every box, and the number of people. */
export async function evaluatedMosaics(): Promise<{ boxes: EvaluatedBox[]; objects: number }> {
  const text = await readFile(join(import.meta.dirname, 'mosaics.json'), 'utf8');
  const { objects, boxes } = JSON.parse(text) as { objects: number; boxes: [number, 0 | 1][] };
  return { objects, boxes: boxes.map(([score, right]) => ({ label: 'person', score, isRight: right === 1 })) };
}
