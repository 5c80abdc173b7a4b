import type { Logger } from '@vision/shared/logger';
import { meter } from '@vision/shared/telemetry';

export type JobSignals = ReturnType<typeof createJobSignals>;

/** What jobs tell the operator. Sources appear by the job's id only, never by address. */
export function createJobSignals(logger: Logger) {
  const of = meter('inference');
  const started = of.createCounter('vision.jobs.started', { description: 'Jobs taken up by a worker' });
  const ended = of.createCounter('vision.jobs.ended', { description: 'Jobs by how they ended, and why they failed' });
  const published = of.createCounter('vision.frames.published', { description: 'Frames acknowledged by Kafka' });
  const dropped = of.createCounter('vision.frames.dropped', {
    description: 'Frames of live streams left out because a fresher one was there',
  });
  const retried = of.createCounter('vision.source.retries', {
    description: 'Connections to live sources lost, by reason',
  });
  const detecting = of.createHistogram('vision.frame.detect.duration', {
    unit: 's',
    description: 'Waiting for and running the model on one frame',
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] },
  });
  const watched = new Set<() => string>();
  of.createObservableGauge('vision.sources', {
    description: 'Live sources by state: stalled is a quiet source, blocked is a slow consumer of ours',
  }).addCallback((result) => {
    const states = { connecting: 0, running: 0, stalled: 0, blocked: 0 } as Record<string, number>;
    for (const stateOf of watched) states[stateOf()] = (states[stateOf()] ?? 0) + 1;
    for (const [state, sources] of Object.entries(states)) result.observe(sources, { state });
  });
  return {
    /** Counts a live source by its state until the returned function is called. */
    sourceWatched: (stateOf: () => string) => {
      watched.add(stateOf);
      return () => void watched.delete(stateOf);
    },
    jobStarted: ({ scene, attempt }: { scene: string; attempt: number }) => {
      started.add(1, { scene, takeover: attempt > 1 });
    },
    jobEnded: (facts: { jobId: string; scene: string; status: string; error?: string | undefined }) => {
      const { jobId, scene, status, error } = facts;
      ended.add(1, { scene, status, reason: error ?? '' });
      logger.info({ job_id: jobId, scene_code: scene, status, reason: error }, 'job ended');
    },
    framesPublished: ({ scene, frames }: { scene: string; frames: number }) => published.add(frames, { scene }),
    framesDropped: ({ scene, frames }: { scene: string; frames: number }) => {
      if (frames > 0) dropped.add(frames, { scene });
    },
    frameDetected: ({ scene, durationMs }: { scene: string; durationMs: number }) => {
      detecting.record(durationMs / 1000, { scene });
    },
    sourceRetried: (facts: { jobId: string; scene: string; reason: string; pauseMs: number }) => {
      const { jobId, scene, reason, pauseMs } = facts;
      retried.add(1, { scene, reason });
      logger.warn(
        { job_id: jobId, reason, pause_ms: Math.round(pauseMs) },
        'a live source was lost and is tried again',
      );
    },
  };
}
