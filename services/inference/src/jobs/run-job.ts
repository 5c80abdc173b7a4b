import type { DetectedObject, ImageSize } from '@vision/shared/contracts/detection';
import type { FrameData } from '@vision/shared/contracts/frame-events';
import { asAppError } from '@vision/shared/errors';
import type { ProgressUpdate } from '../db/jobs.ts';
import type { ServedScene } from '../detectors/start-detectors.ts';
import type { JobRecord } from '../domain/job.ts';
import { SourceError } from '../domain/source-error.ts';
import { createTracker } from '../tracking/tracker.ts';
import { createFramePublisher } from './frame-publisher.ts';
import { inOrder } from './in-order.ts';
import { persistently } from './persistently.ts';
import type { RunJobDeps } from './run-job-deps.ts';
import { fileSource, liveSource } from './sources.ts';
import type { JobFrame } from './sources.ts';

/**
 * Takes a job from its first or next frame to its last: decode, detect, follow, publish. Returns when the source has ended and every
 * frame is acknowledged.
 *
 * @param stop ends the work; frames already detected are still published
 * @param lost the job belongs to somebody else now: nothing more is published
 * @throws SourceError or AppError when the job fails
 */
export async function runJob(
  deps: RunJobDeps,
  job: JobRecord,
  { stop, lost }: { stop: AbortSignal; lost: AbortSignal },
): Promise<void> {
  const served = deps.detectors.find(job.sceneCode);
  if (!served) throw new SourceError('scene_unknown');
  const progress: ProgressUpdate = {
    ...{ framesPublished: job.framesPublished, lastSeq: job.lastSeq, lastTimeMs: job.lastTimeMs ?? 0 },
    reservedSeq: reserveFrom(job.reservedSeq),
  };
  const signal = AbortSignal.any([stop, lost]);
  const overdue = abortedLater(stop, FLUSH_MS);
  const publisher = createFramePublisher({
    producer: deps.producer,
    signal: AbortSignal.any([lost, overdue.signal]),
    onAcknowledged: async (frames) => {
      const last = frames.at(-1);
      if (!last) return;
      progress.framesPublished = job.source.kind === 'object' ? last.seq + 1 : progress.framesPublished + frames.length;
      Object.assign(progress, { lastSeq: last.seq, lastTimeMs: last.frame_time_ms });
      if (last.seq > progress.reservedSeq - RESERVED / 2) progress.reservedSeq = reserveFrom(last.seq);
      deps.signals.framesPublished({ scene: job.sceneCode, frames: frames.length });
      await deps.saveProgress(job, progress);
    },
  });
  const tracker = createTracker(`a${job.attempt}`);
  const isFile = job.source.kind === 'object';
  const frames = isFile ? fileSource(deps, job, { served, signal }) : liveSource(deps, job, signal);
  const detected = inOrder(frames, isFile ? deps.detectAtOnce : 1, (frame) =>
    detectFrame({ deps, job, served, signal }, frame),
  );
  try {
    for await (const { frame, objects } of detected) {
      if (objects === undefined) continue;
      await publisher.add(toFrameData(job, frame, tracker.update(frame.timeMs, objects)));
      if (signal.aborted) break;
    }
    await publisher.flush();
  } finally {
    overdue.clear();
  }
}

// A stop has to be quick; frames that a broker does not take within this time are given up with it.
const FLUSH_MS = 3000;

function abortedLater(signal: AbortSignal, delayMs: number): { signal: AbortSignal; clear: () => void } {
  const later = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => (timer = setTimeout(() => later.abort(), delayMs));
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return {
    signal: later.signal,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', begin);
    },
  };
}

const RESERVED = 2000;

/** The limit below which a live job may use numbers before it writes the next one: who takes over begins there. */
export function reserveFrom(seq: number): number {
  return seq + RESERVED;
}

interface Detecting {
  deps: RunJobDeps;
  job: JobRecord;
  served: ServedScene;
  signal: AbortSignal;
}

/** Objects of a frame; undefined when the work was stopped meanwhile. A model that is away is waited for. */
async function detectFrame(
  { deps, job, served, signal }: Detecting,
  frame: JobFrame,
): Promise<{ frame: JobFrame; objects: DetectedObject[] | undefined }> {
  const options = { minScore: job.lowerBound, labels: served.scene.labels, signal };
  const started = performance.now();
  try {
    const objects = await persistently(() => served.detector.detect(frame.pixels, options), signal);
    deps.signals.frameDetected({ scene: job.sceneCode, durationMs: performance.now() - started });
    return { frame, objects };
  } catch (error) {
    if (signal.aborted || asAppError(error)?.kind === 'unavailable') return { frame, objects: undefined };
    throw error;
  }
}

function toFrameData(
  { jobId, attempt }: JobRecord,
  { seq, timeMs, image }: { seq: number; timeMs: number; image: ImageSize },
  objects: FrameData['objects'],
): FrameData {
  return { job_id: jobId, attempt, seq, frame_time_ms: timeMs, image, objects };
}
