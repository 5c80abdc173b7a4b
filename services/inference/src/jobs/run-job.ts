import { retryUntil } from '@vision/shared/async/retry-until';
import type { DetectedObject } from '@vision/contracts/detection';
import type { FrameData } from '@vision/contracts/frame-events';
import type { ServedScene } from '../detectors/detectors.ts';
import type { SnapshotChoice } from '../domain/choose-snapshots.ts';
import { keepsCalibration } from '../domain/calibration-for.ts';
import { acknowledge, startOf } from '../domain/job-progress.ts';
import type { JobProgress } from '../domain/job-progress.ts';
import type { JobRecord } from '../domain/job.ts';
import { SourceError } from '@vision/streams/source-error';
import { createSparseTrace } from './linked-trace.ts';
import type { Deps } from '../use-cases/deps.ts';
import { detectInFrame } from './detect-in-frame.ts';
import { createFramePublisher } from './frame-publisher.ts';
import { followObjects } from './follow-objects.ts';
import type { Hold } from './hold.ts';
import { inOrder } from './in-order.ts';
import { dropFrames, framesOf } from './job-frames.ts';
import type { FrameDeps, FramesWanted, JobFrame } from './job-frames.ts';
import { createStillFrames } from './still-frames.ts';
import type { DropListener } from '../domain/unsent-frames.ts';

/** A running job: the partition of its messages is set. */
export type RunningJob = JobRecord & { framesPartition: number };

export type RunJobDeps = FrameDeps &
  Pick<Deps, 'detectors' | 'frameGathering' | 'frameMemory' | 'producer' | 'sourceReports' | 'trackSnapshots'>;

/**
 * Runs a job from its first or next frame to its last: decode, detect, track, publish. Returns when there are no more
 * frames and every frame that was read is acknowledged.
 *
 * @param noteProgress receives every acknowledged batch
 * @throws SourceError or AppError when the job fails; the reason of `hold.publishing` when publishing was aborted
 */
export async function runJob(
  deps: RunJobDeps,
  job: RunningJob,
  hold: Hold,
  noteProgress: (progress: JobProgress) => void,
): Promise<void> {
  const served = deps.detectors.find(job.sceneCode);
  if (!served) throw new SourceError('scene_unknown');
  const { model } = served.detector;
  if (!keepsCalibration(job, served.detector))
    deps.signals.modelChanged({ task_id: job.jobId, submitted: job.model, model });
  let progress = startOf(job);
  const report = deps.sourceReports.open(job);
  const publisher = createFramePublisher({
    producer: deps.producer,
    gathering: deps.frameGathering,
    partition: job.framesPartition,
    hold,
    memory: deps.frameMemory,
    drops: job.source.kind === 'stream' ? dropListener(deps, { job, report }) : undefined,
    onAcknowledged: (frames) => {
      progress = acknowledge(progress, job.source.kind, frames);
      deps.signals.framesPublished(job, frames.length);
      noteProgress(progress);
    },
  });
  const following = followObjects(`a${job.attempt}`);
  const still = createStillFrames(served.scene.still);
  const images = imagesOf(deps, { job, served, hold });
  const frames = framesOf(deps, { job, served, signal: hold.reading, report, onLarge: images?.large });
  const atOnce = job.source.kind === 'object' ? deps.settings.framesAtOnce : 1;
  const recordSparsely = createSparseTrace('detect a frame');
  const detecting = { job, served, signal: hold.reading };
  const looked = inOrder(frames, atOnce, async (frame): Promise<LookedAt | undefined> =>
    still.repeats(frame) ? { frame } : recordSparsely(() => look(deps, detecting, frame)),
  );
  try {
    for await (const result of looked) {
      if (result === undefined) break;
      const { frame, found } = result;
      if (!found) deps.signals.frameRepeated(job);
      const objects = following.next(frame, found);
      await publisher.add(toFrameData(job, frame, objects));
      images?.frame({ seq: frame.seq, timeMs: frame.timeMs, objects });
    }
  } finally {
    // Frames that were read are published before the end, for every cause of it.
    await publisher.flush().finally(() => {
      if (job.source.kind === 'stream')
        dropFrames(deps, { job, report }, { frames: publisher.waiting(), reason: 'not_held' });
      publisher.close();
      report.close();
      images?.end();
    });
  }
}

/** Chooses the images of the tracks of a job with snapshots. */
function imagesOf(
  { trackSnapshots }: Pick<Deps, 'trackSnapshots'>,
  { job, served, hold }: { job: JobRecord; served: ServedScene; hold: Hold },
): SnapshotChoice | undefined {
  if (!job.hasSnapshots) return undefined;
  const isHeld = () => !hold.isLost() && !hold.publishing.aborted;
  return trackSnapshots.open(job, { threshold: served.scene.default_min_score, isHeld });
}

/** A live stream continues while Kafka is unavailable: its oldest frames are dropped. */
function dropListener(deps: RunJobDeps, of: Pick<FramesWanted, 'job' | 'report'>): DropListener {
  const { job } = of;
  return {
    onDrop: (frame, isFirst) => {
      if (isFirst) deps.signals.frameMemoryFull(job, frame.seq);
      dropFrames(deps, of, { frames: 1, reason: 'unsent' });
    },
    onDropsEnd: (dropped) => deps.signals.unsentDropped(job, dropped),
  };
}

interface LookedAt {
  frame: JobFrame;
  /** Undefined for a frame without motion: the objects of the previous frame apply. */
  found?: DetectedObject[];
}

interface Detecting {
  job: JobRecord;
  served: ServedScene;
  signal: AbortSignal;
}

/** A frame with its objects; undefined when the signal aborted. Retries while the model is unavailable. */
async function look(
  { signals }: RunJobDeps,
  { job, served, signal }: Detecting,
  frame: JobFrame,
): Promise<LookedAt | undefined> {
  const started = performance.now();
  signals.frameSampled();
  try {
    const found = await retryUntil(() => detectInFrame(frame, { job, served, signal }), { signal });
    signals.frameDetected(job, performance.now() - started);
    return { frame, found };
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function toFrameData(
  { jobId, attempt, source }: JobRecord,
  { seq, timeMs, image }: JobFrame,
  objects: FrameData['objects'],
): FrameData {
  return { job_id: jobId, attempt, seq, frame_time_ms: timeMs, is_live: source.kind === 'stream', image, objects };
}
