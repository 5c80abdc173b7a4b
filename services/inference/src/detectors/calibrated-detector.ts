import type { Calibration } from '@vision/contracts/calibration';
import { leastRawScore, publishScores } from '../domain/publish-scores.ts';
import type { CalibratedDetector, Detector } from './detector.ts';

/**
 * A detector whose scores mean what its calibration says. Everything before it works with raw scores, everything behind
 * it with published ones.
 */
export function createCalibratedDetector(raw: Detector, own: Calibration): CalibratedDetector {
  return {
    model: raw.model,
    fit: (original) => raw.fit(original),
    frameFit: raw.frameFit,
    costMs: (original) => raw.costMs(original),
    calibration: own,
    detect: async (image, { minScore, calibration = own, ...options }) => {
      const wanted = { calibration, minScore };
      const least = leastRawScore(wanted, options.labels);
      return publishScores(await raw.detect(image, { ...options, minScore: least }), wanted);
    },
  };
}
