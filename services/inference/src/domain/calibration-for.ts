import { ANY_LABEL, RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { JobRecord } from './job.ts';

type Submitted = Pick<JobRecord, 'model' | 'calibration'>;

/**
 * What the scores of a job mean under this detector: a curve holds for the model it was fitted on. A job keeps the one
 * it was submitted with as long as it has the same model, and gets the detector's own under another one. Labels that
 * its scene got later have the detector's curves. Jobs that were stored before there were calibrations keep raw scores.
 */
export function calibrationFor(job: Submitted, detector: { model: string; calibration: Calibration }): Calibration {
  if (!keepsCalibration(job, detector)) return detector.calibration;
  const { calibration } = job;
  if (Object.hasOwn(calibration.labels, ANY_LABEL)) return calibration;
  return { ...calibration, labels: { ...detector.calibration.labels, ...calibration.labels } };
}

/** Whether the calibration that a job was submitted with holds under this detector. */
export const keepsCalibration = (job: Submitted, detector: { model: string }): boolean =>
  job.model === detector.model || job.calibration === RAW_SCORES;
