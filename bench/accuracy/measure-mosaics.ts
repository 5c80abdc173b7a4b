import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { evaluateAll } from '../../packages/visionctl/src/calibration/fit-calibration.ts';
import { curveOf, rawScoreOf } from '@vision/contracts/calibration';
import { withDetector } from '../tracking/with-detector.ts';
import { calibrationInForce, detectIn } from './footage.ts';
import { labelledMosaics } from './mosaic-pictures.ts';

/**
 * Detects in the pictures that `make-mosaics.ts` made and writes `mosaics.json`, which the benchmark reads:
 * `node --conditions=@vision/source bench/accuracy/measure-mosaics.ts MOSAICS`
 */
const [directory = ''] = process.argv.slice(2);
const images = await labelledMosaics(directory);
const curve = curveOf(calibrationInForce(), 'person');
const pictures = await withDetector((detect) => detectIn(images, detect));
const objects = images.flatMap(({ truth }) => truth.objects).length;
const boxes = evaluateAll(pictures).map(({ score, isRight }) => [
  Math.round(rawScoreOf(curve, score) * 1e4) / 1e4,
  isRight ? 1 : 0,
]);
await writeFile(join(import.meta.dirname, 'mosaics.json'), `${JSON.stringify({ objects, boxes })}\n`);
