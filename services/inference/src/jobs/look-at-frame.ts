import type { DetectedObject } from '@vision/contracts/detection';
import type { ServedScene } from '../detectors/detectors.ts';
import type { JobRecord } from '../domain/job.ts';
import type { FireObservation } from '../domain/observe-fire.ts';
import { publishScores } from '../domain/publish-scores.ts';
import type { FireWatch } from '../domain/watch-fire.ts';
import type { JobFrame } from './job-frames.ts';

/** What one frame shows: its objects, or what it says to the watch of a job, which judges several frames together. */
export type Look = { objects: DetectedObject[] } | { observation: FireObservation };

/** Looks at one frame by itself. Frames may be looked at in any order and at once. */
export async function lookAt(
  { pixels }: JobFrame,
  { job, served, signal }: { job: JobRecord; served: ServedScene; signal: AbortSignal },
): Promise<Look> {
  const { detector, scene } = served;
  const turn = { owner: turnOf(job), signal };
  if (detector.observe) return { observation: await detector.observe(pixels, turn) };
  const { lowerBound: minScore, calibration } = job;
  return { objects: await detector.detect(pixels, { minScore, calibration, labels: scene.labels, ...turn }) };
}

/** Each live stream has turns of its own, files share those of one: they have time, and take what streams leave. */
const turnOf = ({ jobId, source }: JobRecord) => (source.kind === 'stream' ? jobId : 'files');

/** The objects of a frame, in the light of the frames before it: has to be called in the order of the frames. */
export function judgeLook(
  look: Look,
  { job, served, watch, timeMs }: { job: JobRecord; served: ServedScene; watch: FireWatch; timeMs: number },
): DetectedObject[] {
  if ('objects' in look) return look.objects;
  const { calibration, lowerBound: minScore } = job;
  return publishScores(watch.update(timeMs, look.observation, served.scene.labels), { calibration, minScore });
}
