import type { Knex } from 'knex';
import { jobEnded } from '@vision/shared/contracts/frame-events';
import { asUnavailable } from '@vision/shared/unavailable';
import { asAppError } from '@vision/shared/errors';
import type { Logger } from '@vision/shared/logger';
import { finishJob, markRunning, recordProgress, releaseJob } from '../db/jobs.ts';
import type { Ending, JobRecord } from '../domain/job.ts';
import { SourceError } from '../domain/source-error.ts';
import { persistently } from './persistently.ts';
import type { RunJobDeps } from './run-job-deps.ts';
import { reserveFrom, runJob } from './run-job.ts';

export interface WorkDeps extends Omit<RunJobDeps, 'saveProgress'> {
  db: Knex;
  logger: Logger;
}

export interface WorkSignals {
  /** The caller wants the job to stop. */
  stop: AbortSignal;
  /** Another attempt has the job. */
  lost: AbortSignal;
  /** This worker goes. */
  closing: AbortSignal;
}

interface Outcome {
  status: Ending;
  error?: string | undefined;
}

/**
 * One job in the hands of one worker: to its end, or until it is taken over or put down for another worker. The end-of-job message
 * goes out after the last acknowledged frame and before the row says that the job has ended, so a crash between the two
 * repeats the message and never leaves it out.
 */
export async function workOnJob(deps: WorkDeps, job: JobRecord, signals: WorkSignals): Promise<void> {
  const { stop, lost, closing } = signals;
  const current = { ...job };
  const outcome = await run(deps, current, signals);
  if (lost.aborted) return;
  if (closing.aborted && !stop.aborted) {
    await releaseJob(deps.db, job).catch(() => undefined);
    return;
  }
  const giveUp = AbortSignal.any([lost, closing]);
  await persistently(() => deps.producer.publish([endEvent(current, outcome)]), giveUp);
  if (await persistently(() => finishJob(deps.db, job, { error: undefined, ...outcome }), giveUp)) {
    deps.signals.jobEnded({ jobId: job.jobId, scene: job.sceneCode, ...outcome });
  }
}

async function run(deps: WorkDeps, current: JobRecord, { stop, lost, closing }: WorkSignals): Promise<Outcome> {
  const ended = AbortSignal.any([stop, closing]);
  const fence = { jobId: current.jobId, attempt: current.attempt };
  const saveProgress: RunJobDeps['saveProgress'] = async (_job, progress) => {
    Object.assign(current, progress);
    // The next batch carries the same numbers and more.
    await recordProgress(deps.db, fence, progress).catch((error: unknown) => {
      if (!asUnavailable(error)) throw error;
    });
  };
  try {
    if (ended.aborted) return { status: 'stopped' };
    const isOurs = await persistently(() => markRunning(deps.db, fence, reserveFrom(current.reservedSeq)), ended);
    if (!isOurs) return { status: 'stopped' };
    deps.signals.jobStarted({ scene: current.sceneCode, attempt: current.attempt });
    await runJob({ ...deps, saveProgress }, { ...current }, { stop: ended, lost });
    return { status: stop.aborted ? 'stopped' : 'succeeded' };
  } catch (error) {
    if (stop.aborted || closing.aborted || lost.aborted) return { status: 'stopped' };
    return { status: 'failed', error: reasonOf(deps, current, error) };
  }
}

/** A short reason that is fit for users. What nobody expected goes to the log. */
function reasonOf({ logger }: WorkDeps, { jobId }: JobRecord, error: unknown): string {
  if (error instanceof SourceError) return error.reason;
  const known = asAppError(error);
  if (known) return known.reason;
  logger.error({ err: error, job_id: jobId }, 'a job failed for no known reason');
  return 'internal';
}

function endEvent({ jobId, attempt, framesPublished }: JobRecord, { status, error }: Outcome) {
  const { type, topic } = jobEnded;
  const data = { job_id: jobId, attempt, status, frames_published: framesPublished, ...(error ? { error } : {}) };
  return { topic, type, key: jobId, source: 'inference', id: `${jobId}/end/${attempt}`, data };
}
