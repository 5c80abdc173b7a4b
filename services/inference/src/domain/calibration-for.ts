import { RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { JobRecord } from './job.ts';

/**
 * What the scores of a job mean under this detector: a curve holds for the model it was fitted on. A job keeps the one
 * it was submitted with as long as it has the same model, and gets the detector's own under another one. Jobs that were
 * stored before there were calibrations keep raw scores.
 */
export function calibrationFor(
  job: Pick<JobRecord, 'model' | 'calibration'>,
  detector: { model: string; calibration: Calibration },
): Calibration {
  return job.model === detector.model || job.calibration === RAW_SCORES ? job.calibration : detector.calibration;
}
