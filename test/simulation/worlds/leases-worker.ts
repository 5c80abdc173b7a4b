import { createWakeUp } from '@vision/shared/async/wake-up';
import { createLogger } from '@vision/shared/logger';
import { createWorker } from '../../../services/inference/src/jobs/worker.ts';
import type { WorkDeps } from '../../../services/inference/src/jobs/work-on-job.ts';
import { createFrameMemory } from '../../../services/inference/src/domain/frame-memory.ts';
import { createSignals } from '../../../services/inference/src/signals.ts';
import { createDropCounts } from '../../../services/inference/src/use-cases/drop-counts.ts';
import { createProgressNotes } from '../../../services/inference/src/use-cases/progress-notes.ts';
import { createSourceReports } from '../../../services/inference/src/use-cases/source-reports.ts';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import type { Process } from '../steps.ts';
import type { Stage } from '../world.ts';

/** The work of one attempt at a job. */
export interface WorkedOn {
  jobId: string;
  attempt: number;
  worker: string;
}

/** Told of what workers do with the sources of their jobs. */
export interface Sources {
  opened: (work: WorkedOn) => void;
  closed: (work: WorkedOn) => void;
  /** It was closed although neither its time was over nor its worker stops: the worker believes another one has it. */
  dropped: (work: WorkedOn) => void;
  /** The worker ended the job. No source ends here, so it could not work on it. */
  ended: (work: WorkedOn) => void;
}

interface WorkerOptions {
  name: string;
  livesFor: number | undefined;
  /** Times that its first commits take when it works on a job. */
  standbyMs: readonly number[];
  sources: Sources;
}

const logger = createLogger('simulation', 'silent');
const signals = createSignals(logger);
const settings = {
  jobsPerWorker: 2,
  liveJobsPerWorker: 1,
  leaseMs: 10_000,
  leaseMarginMs: 2_000,
  seqStep: 100,
  seqWaitMs: 1_000,
  pollMs: 500,
  keepDays: 1,
  workerSeenMs: 10_000,
  framesAtOnce: 1,
  shortageRetryMs: 1_000,
};

/** A worker of inference; sources of jobs give no frame, as a camera that is being opened again. */
export async function startWorker(
  stage: Stage,
  { name, livesFor, standbyMs, sources }: WorkerOptions,
): Promise<{ start: () => void; stop: () => Promise<void>; process: Process }> {
  const process = await stage.start(name, livesFor);
  const attempts = new Map<string, WorkedOn>();
  const fenced = new Set<WorkedOn>();
  let isStopping = false;
  const deps = {
    db: process.db,
    logger,
    settings,
    drops: createDropCounts(process.db),
    progress: createProgressNotes(),
    signals: {
      ...signals,
      jobStarted: ({ jobId, attempt }: { jobId: string; attempt: number }) =>
        attempts.set(jobId, { jobId, attempt, worker: name }),
      jobFenced: ({ jobId }: { jobId: string }) => fenced.add(attempts.get(jobId) as WorkedOn),
      jobEnded: ({ jobId, attempt }: { jobId: string; attempt: number }) =>
        sources.ended({ jobId, attempt, worker: name }),
    },
    detectors: { find: () => ({ scene: {}, detector: {} }) },
    producer: { partitionOf: () => Promise.resolve(0), publish: () => Promise.resolve() },
    sourceReports: createSourceReports({
      producer: { publishBatch: () => Promise.resolve(), stop: () => Promise.resolve() },
      signals,
    }),
    frameMemory: createFrameMemory({ jobBytes: 1 << 20, workerBytes: 1 << 20 }),
    liveCosts: { places: () => 1 },
    files: {
      slots: () => 2,
      rest: () => undefined,
      open: async (jobId: string, signal: AbortSignal) => {
        const work = attempts.get(jobId);
        if (!work) throw new Error('a source is opened for no attempt');
        sources.opened(work);
        process.standbyMs = [...standbyMs];
        signal.addEventListener('abort', () => {
          sources.closed(work);
          // The hold tells of its end after it has ended.
          queueMicrotask(() => {
            if (!isStopping && !fenced.has(work)) sources.dropped(work);
          });
        });
        return unlessAborted(signal, new Promise<never>(() => undefined));
      },
    },
  } as unknown as WorkDeps;
  const worker = createWorker(deps, { polls: createWakeUp(), renewals: createWakeUp() });
  return {
    process,
    start: worker.start,
    stop: async () => {
      isStopping = true;
      await worker.stop();
    },
  };
}
