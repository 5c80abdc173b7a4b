import { fitCalibration } from '../../packages/visionctl/src/calibration/fit-calibration.ts';
import { detectedClip, calibrationInForce } from './footage.ts';

/**
 * The calibration of the embedded model, as it stands in config/scenes.json:
 * `node --conditions=@vision/source bench/accuracy/fit.ts`
 */
const { floor, version } = calibrationInForce();
const measured = 'examples/street.mp4: people, one camera over a street, every picture';
const fitted = fitCalibration(await detectedClip(), { version, floor, labels: ['person'], measured });
console.log(JSON.stringify(fitted, null, 2));
