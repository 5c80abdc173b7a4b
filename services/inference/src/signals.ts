import { basename } from 'node:path';
import type { Logger } from '@vision/shared/logger';
import { createCounter, createGauge, createHistogram, observe } from '@vision/shared/telemetry/instruments';
import type { DecodeCosts } from './domain/decode-costs.ts';
import type { JobEnding, JobRecord, UnheldJobs } from './domain/job.ts';
import type { Shortage } from './domain/shortage.ts';
import type { DroppedFrames } from './domain/unsent-frames.ts';
import { frameMetrics, jobMetrics, imageMetrics } from './metrics.ts';
import type { Sandbox, SandboxMode } from './sandbox/sandbox.ts';

export type Signals = ReturnType<typeof createSignals>;

type ImageOutcome = (typeof imageMetrics.images.labels.outcome)[number];
type DropReason = (typeof frameMetrics.dropped.labels.reason)[number];
type SourceState = (typeof jobMetrics.sources.labels.state)[number];

/** What the service tells the operator. Sources appear by the task's id only, never by address. */
export function createSignals(logger: Logger) {
  return {
    ...placeSignals(),
    ...sandboxSignals(logger),
    ...imageSignals(logger),
    ...spaceSignals(logger),
    ...jobSignals(logger),
    ...trackSnapshotSignals(logger),
    ...frameSignals(logger),
  };
}

type JobFacts = Pick<JobRecord, 'jobId' | 'sceneCode' | 'attempt'>;

interface LiveFacts {
  costs: {
    rates: () => { full: number; behind: number };
    costOfOne: () => number;
    decoding: DecodeCosts['measured'];
  };
  places: () => number;
}

/** What an autoscaler goes by: work that is there, and the places for it. */
function placeSignals() {
  return {
    imagesWatched: (loadOf: () => number, most: number) => {
      observe(imageMetrics.load, (tell) => tell(loadOf()));
      observe(imageMetrics.places, (tell) => tell(most));
    },
    jobsWatched: (countOf: () => number, most: number) => {
      observe(jobMetrics.atWork, (tell) => tell(countOf()));
      observe(jobMetrics.places, (tell) => tell(most));
    },
    liveJobsWatched: ({ costs, places }: LiveFacts) => {
      observe(jobMetrics.live, (tell) => {
        const { full, behind } = costs.rates();
        tell(full, { rate: 'full' });
        tell(behind, { rate: 'behind' });
      });
      observe(jobMetrics.livePlaces, (tell) => tell(places()));
      observe(jobMetrics.liveCost, (tell) => tell(costs.costOfOne()));
      observe(jobMetrics.decodeCost, (tell) => {
        for (const { size, codec, cores } of costs.decoding()) tell(cores, { size, codec });
      });
    },
    jobsUnheld: unheldJobs(),
  };
}

/** @returns what takes the numbers of jobs that no worker holds; undefined when they are not known now */
function unheldJobs(): (counts: UnheldJobs | undefined) => void {
  let last: UnheldJobs | undefined;
  observe(jobMetrics.unowned, (tell) => {
    if (last) tell(last.unowned);
  });
  observe(jobMetrics.parked, (tell) => {
    if (last) tell(last.parked);
  });
  return (counts) => {
    last = counts;
  };
}

function sandboxSignals(logger: Logger) {
  const sandboxGauge = createGauge(imageMetrics.sandbox);
  const notStarted = createCounter(imageMetrics.decodersNotStarted);
  return {
    decoderNotStarted: (program: string, error: unknown) => {
      notStarted.add(1);
      logger.warn({ program: basename(program), err: error }, 'could not start a decoder');
    },
    sandboxChosen: (mode: SandboxMode, chosen: Sandbox['isolation']) => {
      sandboxGauge.record(1, { wall: chosen });
      const facts = { sandbox: mode, wall: chosen };
      if (chosen !== 'none') logger.info(facts, 'decoders run in a sandbox');
      else if (mode === 'require') logger.error(facts, 'no sandbox available: decoding is refused');
      else logger.error(facts, 'no sandbox: decoders can reach all that this service can reach');
    },
  };
}

function spaceSignals(logger: Logger) {
  const shortages = createCounter(jobMetrics.shortages);
  return {
    workDirWatched: (usage: () => { usedBytes: number; limitBytes: number }) => {
      observe(jobMetrics.workDir, (tell) => {
        const { usedBytes, limitBytes } = usage();
        tell(usedBytes, { kind: 'used' });
        tell(limitBytes, { kind: 'limit' });
      });
    },
    fileSlotsLowered: ({ slots, limitBytes, fileMaxBytes }: SlotFacts) => {
      const facts = { file_slots: slots, limit_bytes: limitBytes, file_max_bytes: fileMaxBytes };
      if (limitBytes >= fileMaxBytes) logger.info(facts, 'file slots lowered to what WORK_DIR has space for');
      else logger.error(facts, 'WORK_DIR has no space for a video of FILE_MAX_BYTES; one file slot is left');
    },
    submitShort: (reason: Shortage) => {
      shortages.add(1, { at: 'submit', reason });
      logger.warn({ reason }, 'no space or process to inspect an uploaded video; submit refused');
    },
    attemptShort: ({ jobId, attempt }: JobFacts, reason: Shortage, count: number) => {
      shortages.add(1, { at: 'attempt', reason });
      logger.warn({ task_id: jobId, attempt, reason, count }, 'no space or process for a job; its attempt ended');
    },
  };
}

type SlotFacts = Record<'slots' | 'limitBytes' | 'fileMaxBytes', number>;

function imageSignals(logger: Logger) {
  const lost = createCounter(imageMetrics.decodersLost);
  const images = createCounter(imageMetrics.images);
  const duration = createHistogram(imageMetrics.duration);
  const saturated = createCounter(imageMetrics.saturated);
  return {
    imageDetected: ({ scene, outcome, durationMs }: { scene: string; outcome: ImageOutcome; durationMs: number }) => {
      images.add(1, { scene, outcome });
      duration.record(durationMs / 1000, { scene });
    },
    imageTurnedAway: () => saturated.add(1),
    imageDecoderLost: () => {
      lost.add(1);
      logger.warn('image exceeded its limits or broke its decoder; decoder process replaced');
    },
    detectorFailed: ({ scene, reason, cause }: { scene: string; reason: string; cause: unknown }) => {
      logger.error({ scene_code: scene, reason, err: cause }, 'detection in an image failed');
    },
  };
}

function jobSignals(logger: Logger) {
  const started = createCounter(jobMetrics.started);
  const ended = createCounter(jobMetrics.ended);
  const retried = createCounter(jobMetrics.retries);
  const fenced = createCounter(jobMetrics.fenced);
  const reports = createCounter(jobMetrics.reports);
  const probes = createCounter(jobMetrics.probes);
  const snapshots = createCounter(jobMetrics.snapshots);
  const watched = new Set<() => SourceState>();
  observe(jobMetrics.sources, (tell) => {
    const states = [...watched].map((stateOf) => stateOf());
    for (const state of jobMetrics.sources.labels.state) tell(states.filter((one) => one === state).length, { state });
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
    modelChanged: (facts: object) => logger.info(facts, 'job runs with another model, and with its calibration'),
    sourceRetried: ({ jobId, sceneCode: scene }: JobFacts, reason: string, pauseMs: number) => {
      retried.add(1, { scene, reason });
      const facts = { task_id: jobId, scene_code: scene, reason, pause_ms: Math.round(pauseMs) };
      logger.warn(facts, 'live source lost; reconnecting');
    },
    sourceParked: ({ jobId }: JobFacts, awayMs: number) =>
      logger.info({ task_id: jobId, away_ms: Math.round(awayMs) }, 'live stream unavailable; slot released'),
    liveRateChanged: ({ jobId, sceneCode: scene }: JobFacts, isBehind: boolean) => {
      const facts = { task_id: jobId, scene_code: scene };
      if (isBehind) logger.warn(facts, 'live stream below its frame rate: this worker is too slow');
      else logger.info(facts, 'live stream at its frame rate again');
    },
    decoderLowered: ({ jobId }: JobFacts, cores: number) =>
      logger.info({ task_id: jobId, cores }, 'priority of a decoder lowered: its live stream takes too much of a core'),
    rateNotStored: ({ jobId }: JobFacts, error: unknown) =>
      logger.warn({ task_id: jobId, err: error }, 'frame rate state of a live stream not stored'),
    jobCondemned: ({ jobId, attempt }: JobFacts, deaths: number) => {
      const facts = { task_id: jobId, attempt, deaths };
      logger.error(facts, 'a job that ran alone ended its worker process each time; the job fails');
    },
    videoRefused: (reason: string, detail: string | undefined) =>
      logger.info({ reason, detail }, 'refused an uploaded video'),
    jobFenced: ({ jobId, attempt }: JobFacts) => {
      fenced.add(1);
      logger.warn({ task_id: jobId, attempt }, 'lease not renewed in time; this worker yields the job');
    },
    sourceReports: (outcome: (typeof jobMetrics.reports.labels.outcome)[number], count: number) => {
      if (count > 0) reports.add(count, { outcome });
    },
    streamProbed: (outcome: (typeof jobMetrics.probes.labels.outcome)[number]) => probes.add(1, { outcome }),
    snapshots: (outcome: (typeof jobMetrics.snapshots.labels.outcome)[number]) => snapshots.add(1, { outcome }),
    /** Counts a live source by its state until the returned function is called. */
    sourceWatched: (stateOf: () => SourceState) => {
      watched.add(stateOf);
      return () => void watched.delete(stateOf);
    },
  };
}

function trackSnapshotSignals(logger: Logger) {
  const snapshots = createCounter(jobMetrics.trackSnapshots);
  let isFailing = false;
  return {
    trackSnapshots: (outcome: 'published' | 'dropped' | 'late') => {
      snapshots.add(1, { outcome });
      if (outcome === 'published') isFailing = false;
    },
    trackSnapshotFailed: (error: unknown) => {
      snapshots.add(1, { outcome: 'failed' });
      // Once for each outage.
      if (!isFailing) logger.warn({ err: error }, 'images of tracks cannot be stored or published');
      isFailing = true;
    },
  };
}

function frameSignals(logger: Logger) {
  const read = createCounter(frameMetrics.read);
  const sampled = createCounter(frameMetrics.sampled);
  const repeated = createCounter(frameMetrics.repeated);
  const published = createCounter(frameMetrics.published);
  const dropped = createCounter(frameMetrics.dropped);
  const detecting = createHistogram(frameMetrics.detecting);
  return {
    framesRead: (kind: 'live' | 'file', frames: number) => read.add(frames, { kind }),
    frameSampled: () => sampled.add(1),
    frameRepeated: ({ sceneCode: scene }: JobFacts) => repeated.add(1, { scene }),
    frameDetected: ({ sceneCode: scene }: JobFacts, durationMs: number) =>
      detecting.record(durationMs / 1000, { scene }),
    framesPublished: ({ jobId, sceneCode: scene }: JobFacts, frames: number) => {
      published.add(frames, { scene });
      logger.debug({ task_id: jobId, frames }, 'frames published');
    },
    framesDropped: ({ jobId, sceneCode: scene }: JobFacts, frames: number, reason: DropReason) => {
      if (frames === 0) return;
      dropped.add(frames, { scene, reason });
      logger.debug({ task_id: jobId, frames, reason }, 'frames dropped');
    },
    segmentReadersChanged: (areReady: boolean) => {
      if (areReady) logger.info('every replica of results reads segments: frames are published in segments');
      else logger.info('not every replica of results is known to read segments: frames are published one by one');
    },
    frameMemoryWatched: (usedBytes: () => number) => observe(frameMetrics.unsent, (tell) => tell(usedBytes())),
    frameMemoryFull: ({ jobId }: JobFacts, firstSeq: number) => {
      const facts = { task_id: jobId, first_seq: firstSeq };
      logger.warn(facts, 'Kafka does not take frames and memory is full: the oldest frames are dropped');
    },
    unsentDropped: ({ jobId }: JobFacts, { frames, firstSeq, lastSeq }: DroppedFrames) => {
      const facts = { task_id: jobId, frames, first_seq: firstSeq, last_seq: lastSeq };
      logger.warn(facts, 'frames of a live stream were dropped because Kafka did not take them');
    },
    numbersExhausted: ({ jobId, attempt }: JobFacts, error: unknown) => {
      const facts = { task_id: jobId, attempt, err: error };
      logger.warn(facts, 'the database confirms no more frame numbers: frames of a live stream are dropped');
    },
  };
}
