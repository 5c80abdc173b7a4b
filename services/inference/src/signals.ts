import type { Logger } from '@vision/shared/logger';
import { meter } from '@vision/shared/telemetry';
import type { JobEnding, JobRecord } from './domain/job.ts';
import type { Sandbox, SandboxMode } from './sandbox/sandbox.ts';

export type Signals = ReturnType<typeof createSignals>;

/** What the service tells the operator. Sources appear by the task's id only, never by address. */
export function createSignals(logger: Logger) {
  return {
    ...placeSignals(),
    ...sandboxSignals(logger),
    ...pictureSignals(logger),
    ...jobSignals(logger),
    ...frameSignals(logger),
  };
}

type JobFacts = Pick<JobRecord, 'jobId' | 'sceneCode' | 'attempt'>;

/** What an autoscaler goes by: work that is there, and the places for it. */
function placeSignals() {
  const load = meter('inference').createObservableGauge('vision.inference.load', {
    description: 'Pictures that wait or are worked on in this process',
  });
  const places = meter('inference').createObservableGauge('vision.inference.places', {
    description: 'Pictures that this process takes at most; further ones are turned away',
  });
  const atWork = meter('inference').createObservableGauge('vision.jobs.at_work', {
    description: 'Video jobs that this worker runs',
  });
  const jobPlaces = meter('inference').createObservableGauge('vision.jobs.places', {
    description: 'Video jobs that this worker runs at most',
  });
  return {
    picturesWatched: (loadOf: () => number, most: number) => {
      load.addCallback((result) => result.observe(loadOf()));
      places.addCallback((result) => result.observe(most));
    },
    jobsWatched: (countOf: () => number, most: number) => {
      atWork.addCallback((result) => result.observe(countOf()));
      jobPlaces.addCallback((result) => result.observe(most));
    },
  };
}

function sandboxSignals(logger: Logger) {
  const wall = meter('inference').createGauge('vision.inference.sandbox', {
    description: '1 for the wall that decoders run behind; `none` when only their resources are limited',
  });
  return {
    sandboxChosen: (mode: SandboxMode, chosen: Sandbox['wall']) => {
      wall.record(1, { wall: chosen });
      const facts = { sandbox: mode, wall: chosen };
      if (chosen !== 'none') logger.info(facts, 'decoders run behind a wall');
      else if (mode === 'require') logger.error(facts, 'no wall for decoders works here: nothing is decoded');
      else logger.error(facts, 'no wall for decoders: they can reach what this service can reach');
    },
  };
}

function pictureSignals(logger: Logger) {
  const lost = meter('inference').createCounter('vision.inference.picture_decoders_lost', {
    description: 'Processes ended by the picture they decoded: it cost too much or broke them',
  });
  const images = meter('inference').createCounter('vision.inference.images', {
    description: 'Pictures by scene and outcome',
  });
  const duration = meter('inference').createHistogram('vision.inference.image.duration', {
    unit: 's',
    description: 'Waiting, decoding and detecting of one picture',
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
  });
  const saturated = meter('inference').createCounter('vision.inference.saturated', {
    description: 'Pictures turned away because every place was taken',
  });
  return {
    imageDetected: ({ scene, outcome, durationMs }: { scene: string; outcome: string; durationMs: number }) => {
      images.add(1, { scene, outcome });
      duration.record(durationMs / 1000, { scene });
    },
    imageTurnedAway: () => saturated.add(1),
    pictureDecoderLost: () => {
      lost.add(1);
      logger.warn('a picture cost too much or broke its decoder; its process was replaced');
    },
    detectorFailed: ({ scene, reason, cause }: { scene: string; reason: string; cause: unknown }) => {
      logger.error({ scene_code: scene, reason, err: cause }, 'a picture could not be detected');
    },
  };
}

function jobSignals(logger: Logger) {
  const started = meter('inference').createCounter('vision.jobs.started', { description: 'Jobs taken up by a worker' });
  const ended = meter('inference').createCounter('vision.jobs.ended', {
    description: 'Jobs by how they ended, and why they failed',
  });
  const retried = meter('inference').createCounter('vision.source.retries', {
    description: 'Connections to live sources lost, by reason',
  });
  const fenced = meter('inference').createCounter('vision.jobs.fenced', {
    description: 'Jobs put down because their lease could not be renewed in time',
  });
  const watched = new Set<() => string>();
  meter('inference')
    .createObservableGauge('vision.sources', {
      description: 'Live sources by state: stalled is a quiet source, blocked is a slow consumer of ours',
    })
    .addCallback((result) => {
      const counts: Record<string, number> = { connecting: 0, running: 0, stalled: 0, blocked: 0 };
      for (const stateOf of watched) counts[stateOf()] = (counts[stateOf()] ?? 0) + 1;
      for (const [state, sources] of Object.entries(counts)) result.observe(sources, { state });
    });
  return {
    jobStarted: ({ jobId, sceneCode: scene, attempt }: JobFacts) => {
      started.add(1, { scene, takeover: attempt > 1 });
      logger.info({ task_id: jobId, scene_code: scene, attempt }, 'job started');
    },
    jobEnded: ({ jobId, sceneCode: scene, attempt }: JobFacts, { status, error }: JobEnding) => {
      ended.add(1, { scene, status, reason: error ?? '' });
      logger.info({ task_id: jobId, scene_code: scene, attempt, status, reason: error }, 'job ended');
    },
    sourceRetried: ({ jobId, sceneCode: scene }: JobFacts, reason: string, pauseMs: number) => {
      retried.add(1, { scene, reason });
      const facts = { task_id: jobId, scene_code: scene, reason, pause_ms: Math.round(pauseMs) };
      logger.warn(facts, 'a live source was lost and is tried again');
    },
    jobFenced: ({ jobId, attempt }: JobFacts) => {
      fenced.add(1);
      logger.warn({ task_id: jobId, attempt }, 'a lease could not be renewed: the job is put down before it runs out');
    },
    /** Counts a live source by its state until the returned function is called. */
    sourceWatched: (stateOf: () => string) => {
      watched.add(stateOf);
      return () => void watched.delete(stateOf);
    },
  };
}

function frameSignals(logger: Logger) {
  const published = meter('inference').createCounter('vision.frames.published', {
    description: 'Frames acknowledged by Kafka',
  });
  const dropped = meter('inference').createCounter('vision.frames.dropped', {
    description: 'Frames of live streams left out: a fresher one was there, no number was confirmed, the job was lost',
  });
  const detecting = meter('inference').createHistogram('vision.frame.detect.duration', {
    unit: 's',
    description: 'Waiting for and running the model on one frame',
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] },
  });
  return {
    frameDetected: ({ sceneCode: scene }: JobFacts, durationMs: number) => {
      detecting.record(durationMs / 1000, { scene });
    },
    framesPublished: ({ jobId, sceneCode: scene }: JobFacts, frames: number) => {
      published.add(frames, { scene });
      logger.debug({ task_id: jobId, frames }, 'frames published');
    },
    framesDropped: (
      { jobId, sceneCode: scene }: JobFacts,
      frames: number,
      reason: 'fresher' | 'no_number' | 'not_held',
    ) => {
      if (frames === 0) return;
      dropped.add(frames, { scene, reason });
      logger.debug({ task_id: jobId, frames, reason }, 'frames dropped');
    },
    numbersExhausted: ({ jobId, attempt }: JobFacts, error: unknown) => {
      const facts = { task_id: jobId, attempt, err: error };
      logger.warn(facts, 'the database confirms no more frame numbers: frames of a live stream are dropped');
    },
  };
}
