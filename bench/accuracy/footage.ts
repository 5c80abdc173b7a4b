import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DetectedPicture } from '@vision/shared/calibration/fit-calibration';
import type { JudgedBox } from '@vision/shared/calibration/judge-boxes';
import type { Corners } from '@vision/shared/calibration/labelled-pictures';
import { curveOf, rawScoreOf } from '@vision/shared/contracts/calibration';
import type { Calibration } from '@vision/shared/contracts/calibration';
import { loadScenes } from '@vision/shared/scenes';
import { loadClip } from '../tracking/clip.ts';
import { withDetector } from '../tracking/with-detector.ts';

const registry = join(import.meta.dirname, '../../config/scenes.json');

/** The calibration of the embedded model in the registry that ships. @throws Error when there is none */
export function calibrationInForce(): Calibration {
  const found = loadScenes(registry).detectors['nanodet-416']?.calibration;
  if (!found) throw new Error('the embedded model has no calibration');
  return found;
}

/** The people in every picture of `examples/street.mp4`, and what the detector finds, with raw scores. */
export async function detectedClip(): Promise<DetectedPicture[]> {
  const { pictures, people, width, height } = await loadClip();
  const curve = curveOf(calibrationInForce(), 'person');
  const cornersOf = (box: { cx: number; cy: number; width: number; height: number }): Corners => ({
    left: (box.cx - box.width / 2) * width,
    top: (box.cy - box.height / 2) * height,
    right: (box.cx + box.width / 2) * width,
    bottom: (box.cy + box.height / 2) * height,
  });
  return withDetector(async (detect) => {
    const detected: DetectedPicture[] = [];
    for (const [index, picture] of pictures.entries()) {
      const found = await detect(picture);
      const objects = (people[index] ?? []).map(({ bbox }) => ({ label: 'person', box: cornersOf(bbox) }));
      detected.push({
        truth: { file: String(index), width, height, objects, ignored: [] },
        found: found.map(({ label, score, bbox }) => ({
          label,
          score: rawScoreOf(curve, score),
          box: cornersOf(bbox),
        })),
      });
    }
    return detected;
  });
}

/** What `measure-mosaics.ts` wrote: raw score and right (1) or wrong (0) of every box, and the number of people. */
export async function judgedMosaics(): Promise<{ boxes: JudgedBox[]; objects: number }> {
  const text = await readFile(join(import.meta.dirname, 'mosaics.json'), 'utf8');
  const { objects, boxes } = JSON.parse(text) as { objects: number; boxes: [number, 0 | 1][] };
  return { objects, boxes: boxes.map(([score, right]) => ({ label: 'person', score, isRight: right === 1 })) };
}
