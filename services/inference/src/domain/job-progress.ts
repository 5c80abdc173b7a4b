import type { FrameData } from '@vision/contracts/frame-events';
import type { AttemptFrames, JobRecord } from './job.ts';

/** How far a job is; only what Kafka acknowledged counts. */
export interface JobProgress {
  framesPublished: number;
  lastSeq: number;
  lastTimeMs: number;
  /** Of this attempt alone. */
  ofAttempt: AttemptFrames;
}

/** Where the attempt that just took the job begins. */
export function startOf(job: JobRecord): JobProgress {
  return {
    framesPublished: job.framesPublished,
    lastSeq: job.lastSeq,
    lastTimeMs: job.lastTimeMs ?? 0,
    ofAttempt: { count: 0 },
  };
}

/** The progress after a batch of frames was acknowledged. */
export function acknowledge(
  progress: JobProgress,
  kind: JobRecord['source']['kind'],
  frames: readonly Pick<FrameData, 'seq' | 'frame_time_ms'>[],
): JobProgress {
  const last = frames.at(-1);
  if (!last) return progress;
  return {
    // Samples of a file are numbered from 0 without a gap, so one that is repeated is not counted twice.
    framesPublished: kind === 'object' ? last.seq + 1 : progress.framesPublished + frames.length,
    lastSeq: last.seq,
    lastTimeMs: last.frame_time_ms,
    ofAttempt: {
      count: progress.ofAttempt.count + frames.length,
      firstSeq: progress.ofAttempt.firstSeq ?? frames[0]?.seq,
      lastSeq: last.seq,
    },
  };
}
