import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { judgeAll } from '@vision/shared/calibration/fit-calibration';
import type { DetectedPicture } from '@vision/shared/calibration/fit-calibration';
import { parseLabelledPictures } from '@vision/shared/calibration/labelled-pictures';
import { curveOf, rawScoreOf } from '@vision/shared/contracts/calibration';
import sharp from 'sharp';
import { withDetector } from '../tracking/with-detector.ts';
import { calibrationInForce } from './footage.ts';

/**
 * Detects in the pictures that `make-mosaics.ts` made and writes `mosaics.json`, which the benchmark reads:
 * `node --conditions=@vision/source bench/accuracy/measure-mosaics.ts MOSAICS`
 */
const [directory = ''] = process.argv.slice(2);
const truths = parseLabelledPictures(JSON.parse(await readFile(join(directory, 'labels.json'), 'utf8')));
// The detectors share this library and block its loaders.
sharp.unblock({ operation: ['VipsForeignLoad'] });
const curve = curveOf(calibrationInForce(), 'person');

const pictures = await withDetector(async (detect) => {
  const detected: DetectedPicture[] = [];
  for (const truth of truths) {
    const { width, height } = truth;
    const data = await sharp(join(directory, truth.file)).removeAlpha().raw().toBuffer();
    const found = await detect({ data, width, height });
    detected.push({
      truth,
      found: found.map(({ label, score, bbox }) => ({
        label,
        score: rawScoreOf(curve, score),
        box: {
          left: (bbox.cx - bbox.width / 2) * width,
          top: (bbox.cy - bbox.height / 2) * height,
          right: (bbox.cx + bbox.width / 2) * width,
          bottom: (bbox.cy + bbox.height / 2) * height,
        },
      })),
    });
  }
  return detected;
});
const objects = truths.flatMap((truth) => truth.objects).length;
const boxes = judgeAll(pictures).map(({ score, isRight }) => [Math.round(score * 1e4) / 1e4, isRight ? 1 : 0]);
await writeFile(join(import.meta.dirname, 'mosaics.json'), `${JSON.stringify({ objects, boxes })}\n`);
