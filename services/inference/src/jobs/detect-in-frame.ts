import type { DetectedObject } from '@vision/contracts/detection';
import type { ServedScene } from '../detectors/detectors.ts';
import { calibrationFor } from '../domain/calibration-for.ts';
import type { JobRecord } from '../domain/job.ts';
import type { JobFrame } from './job-frames.ts';

/** Objects of one frame. Frames may be looked at in any order and at once. */
export function detectInFrame(
  { pixels }: JobFrame,
  { job, served, signal }: { job: JobRecord; served: ServedScene; signal: AbortSignal },
): Promise<DetectedObject[]> {
  const { lowerBound: minScore } = job;
  const { detector, scene } = served;
  const calibration = calibrationFor(job, detector);
  return detector.detect(pixels, { minScore, calibration, labels: scene.labels, owner: turnOf(job), signal });
}

/** Each live stream has turns of its own, files share those of one: they have time, and take what streams leave. */
const turnOf = ({ jobId, source }: JobRecord) => (source.kind === 'stream' ? jobId : 'files');
