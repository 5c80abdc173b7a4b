import { retryUntil } from '@vision/shared/async/retry-until';
import { jobEnded } from '@vision/shared/contracts/frame-events';
import { asAppError } from '@vision/shared/errors';
import { asUnavailable } from '@vision/shared/unavailable';
import { finishJob, markRunning, recordProgress, releaseJob } from '../db/jobs.ts';
import { startOf } from '../domain/job-progress.ts';
import type { JobProgress } from '../domain/job-progress.ts';
import type { JobEnding, JobRecord } from '../domain/job.ts';
import { SourceError } from '../domain/source-error.ts';
import type { Deps } from '../use-cases/deps.ts';
import type { Hold } from './hold.ts';
import { runJob } from './run-job.ts';
import type { RunJobDeps } from './run-job.ts';

export type WorkDeps = RunJobDeps & Pick<Deps, 'db' | 'logger'>;

/**
 * Works on one job: to its end, until another attempt has it, or until this worker lets go of it. The end-of-job
 * message goes out after the last acknowledged frame and before the row says that the job has ended, so a crash between
 * the two repeats the message and never leaves it out.
 */
export async function workOnJob(deps: WorkDeps, job: JobRecord, hold: Hold): Promise<void> {
  let progress = startOf(job);
  const saveProgress = async (next: JobProgress) => {
    progress = next;
    await record(deps, job, next);
  };
  const ending = await run(deps, job, hold, saveProgress);
  if (ending && (await end(deps, job, hold, { ...ending, framesPublished: progress.framesPublished }))) return;
  await release(deps, job);
}

/** How the job ended; undefined when it goes on elsewhere. */
async function run(
  deps: WorkDeps,
  job: JobRecord,
  hold: Hold,
  saveProgress: (progress: JobProgress) => Promise<void>,
): Promise<JobEnding | undefined> {
  try {
    const ceiling = job.reservedSeq + deps.settings.seqStep;
    const status = await retryUntil(() => markRunning(deps.db, job, ceiling), { signal: hold.reading });
    if (status === undefined) return undefined;
    if (status === 'stopping') return { status: 'stopped' };
    deps.signals.jobStarted(job);
    await runJob(deps, job, hold, saveProgress);
    if (!hold.reading.aborted) return { status: 'succeeded' };
  } catch (error) {
    if (!hold.reading.aborted) return { status: 'failed', error: reasonOf(deps, job, error) };
    // An error that comes because reading ended says nothing about the job.
    deps.logger.debug({ err: error, task_id: job.jobId }, 'the work on a job broke off');
  }
  return hold.isStopRequested() ? { status: 'stopped' } : undefined;
}

/** Publishes and stores that the job has ended; false when there was no time for it. */
async function end(
  { db, producer, signals }: WorkDeps,
  job: JobRecord,
  { publishing: signal }: Hold,
  ending: JobEnding & { framesPublished: number },
): Promise<boolean> {
  try {
    await retryUntil(() => producer.publish([endEvent(job, ending)]), { signal });
    if (await retryUntil(() => finishJob(db, job, ending), { signal })) signals.jobEnded(job, ending);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

async function record({ db }: WorkDeps, job: JobRecord, progress: JobProgress): Promise<void> {
  try {
    await recordProgress(db, job, progress);
  } catch (error) {
    // The record of the next batch holds the same numbers and more.
    if (!asUnavailable(error)) throw error;
  }
}

async function release({ db, logger }: WorkDeps, job: JobRecord): Promise<void> {
  try {
    await releaseJob(db, job);
  } catch (error) {
    logger.warn({ err: error, task_id: job.jobId }, 'a job is taken up by another worker only when its lease is over');
  }
}

/** A short reason that users may see. Unexpected errors go to the log. */
function reasonOf({ logger }: WorkDeps, { jobId }: JobRecord, error: unknown): string {
  if (error instanceof SourceError) return error.reason;
  const known = asAppError(error);
  if (known) return known.reason;
  logger.error({ err: error, task_id: jobId }, 'a job failed for no known reason');
  return 'internal';
}

function endEvent(
  { jobId, attempt }: JobRecord,
  { status, error, framesPublished }: JobEnding & { framesPublished: number },
) {
  const { type, topic } = jobEnded;
  const data = { job_id: jobId, attempt, status, frames_published: framesPublished, ...(error ? { error } : {}) };
  return { topic, type, key: jobId, source: 'inference', id: `${jobId}/end/${attempt}`, data };
}
