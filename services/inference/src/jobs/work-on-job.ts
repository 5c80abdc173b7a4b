import { retryUntil } from '@vision/shared/async/retry-until';
import { jobEnded } from '@vision/contracts/frame-events';
import { topics } from '@vision/contracts/topics';
import { crashPoint } from '@vision/shared/crash-point';
import { asAppError } from '@vision/contracts/errors';
import { countShortage, finishJob, markRunning, parkJob, releaseJob, storeEnding } from '../db/held-jobs.ts';
import { startOf } from '../domain/job-progress.ts';
import type { JobProgress } from '../domain/job-progress.ts';
import { MOST_STRIKES } from '../domain/job.ts';
import type { JobEnding, JobRecord, StoredEnding } from '../domain/job.ts';
import { MOST_SHORTAGES, shortageOf } from '../domain/shortage.ts';
import type { Shortage } from '../domain/shortage.ts';
import { SourceError } from '@vision/streams/source-error';
import { SourceAway } from '../domain/source-failure.ts';
import type { Deps } from '../use-cases/deps.ts';
import type { Hold } from './hold.ts';
import { runJob } from './run-job.ts';
import type { RunJobDeps } from './run-job.ts';

export type WorkDeps = RunJobDeps & Pick<Deps, 'db' | 'logger' | 'progress'>;

/**
 * Works on one job until it ends, another attempt has it, or this worker yields it. The ending is stored before the
 * end-of-stream marker is published, so a worker that takes the job over in between publishes the same marker and no
 * frame. With `isToEnd` the stream was claimed only to be ended, and no connection is made.
 */
export async function workOnJob(deps: WorkDeps, job: JobRecord, hold: Hold, isToEnd = false): Promise<void> {
  const end = job.ending
    ? { ending: job.ending, framesPublished: job.framesPublished, framesPartition: job.framesPartition }
    : await workToEnd(deps, job, hold, isToEnd);
  if (end && (await announce(deps, job, hold, end))) return;
  await release(deps, job);
}

/** The stored ending, the number of frames of all attempts, and their partition. */
interface End {
  ending: StoredEnding;
  framesPublished: number;
  framesPartition: number | undefined;
}

/** Works until the job ends, and stores the ending; undefined when the job continues elsewhere. */
async function workToEnd(deps: WorkDeps, job: JobRecord, hold: Hold, isToEnd: boolean): Promise<End | undefined> {
  let progress = startOf(job);
  const noteProgress = (next: JobProgress) => {
    progress = next;
    deps.progress.note(job, next);
  };
  const outcome = await run(deps, job, hold, { isToEnd, noteProgress });
  if (!outcome) return undefined;
  const ending = { ...outcome, attempt: job.attempt, frames: progress.ofAttempt };
  const stored = await whileHeld(hold, () => storeEnding(deps.db, job, { ending, progress }));
  crashPoint('inference.end.stored');
  if (!stored) return undefined;
  return { ending, framesPublished: progress.framesPublished, framesPartition: stored.framesPartition ?? undefined };
}

/** How the job ended; undefined when it continues elsewhere. */
async function run(
  deps: WorkDeps,
  job: JobRecord,
  hold: Hold,
  { isToEnd, noteProgress }: { isToEnd: boolean; noteProgress: (progress: JobProgress) => void },
): Promise<JobEnding | undefined> {
  try {
    const begun = await retryUntil(() => begin(deps, job), { signal: hold.reading });
    if (begun === undefined) return undefined;
    if (begun.status === 'stopping') return { status: 'stopped' };
    if (job.strikes >= MOST_STRIKES) {
      deps.signals.jobCondemned(job, job.strikes);
      return { status: 'failed', error: 'worker_crashed' };
    }
    // Its time expired before a worker had room for another connection. Any other claim connects: frames may have
    // arrived that Kafka has not acknowledged.
    if (isToEnd && isGivenUp(job)) return { status: 'failed', error: 'source_lost' };
    if (job.awayMs === undefined) deps.signals.jobStarted(job);
    await runJob(deps, { ...job, framesPartition: begun.framesPartition }, hold, noteProgress);
    if (!hold.reading.aborted) return { status: 'succeeded' };
  } catch (error) {
    if (!hold.reading.aborted && error instanceof SourceAway) {
      await park(deps, job, hold, error);
      return undefined;
    }
    const shortage = shortageOf(error);
    if (!hold.reading.aborted && shortage) return await endForShortage(deps, job, hold, shortage);
    if (!hold.reading.aborted) return { status: 'failed', error: reasonOf(deps, job, error) };
    // An error that follows from the end of reading is no failure of the job.
    deps.logger.debug({ err: error, task_id: job.jobId }, 'work on a job was interrupted');
  }
  return hold.isStopRequested() ? { status: 'stopped' } : undefined;
}

const isGivenUp = ({ awayMs, giveUpAfterS }: JobRecord): boolean =>
  awayMs !== undefined && giveUpAfterS !== undefined && awayMs >= giveUpAfterS * 1000;

/** Releases the slot. Later a worker with room claims the job. */
async function park(
  { db, progress, settings, signals }: WorkDeps,
  job: JobRecord,
  hold: Hold,
  { awayMs, isNew }: SourceAway,
): Promise<void> {
  const parked = { awayMs, isNew, reopenMs: settings.reopenMs, progress: progress.of(job) };
  const isParked = await whileHeld(hold, () => parkJob(db, job, parked));
  // Logged once for each outage: the stream is reopened every minute.
  if (isParked && isNew) signals.sourceParked(job, awayMs);
}

/** Another worker may have the missing resource; the job fails when several attempts have ended like this. */
async function endForShortage(
  { db, files, signals }: WorkDeps,
  job: JobRecord,
  hold: Hold,
  reason: Shortage,
): Promise<JobEnding | undefined> {
  files.rest();
  const shortages = await whileHeld(hold, () => countShortage(db, job));
  if (shortages === undefined) return hold.isStopRequested() ? { status: 'stopped' } : undefined;
  signals.attemptShort(job, reason, shortages);
  return shortages < MOST_SHORTAGES ? undefined : { status: 'failed', error: reason };
}

/** The key determines the partition of a job once: its messages keep their order when partitions are added. */
async function begin({ db, producer, settings }: WorkDeps, job: JobRecord) {
  const ceiling = job.reservedSeq + settings.seqStep;
  const framesPartition = job.framesPartition ?? (await producer.partitionOf(topics.frames, job.jobId));
  return markRunning(db, job, { ceiling, framesPartition });
}

/** Publishes the end-of-stream marker and ends the job; false when this worker may no longer do so. */
async function announce({ db, producer, signals }: WorkDeps, job: JobRecord, hold: Hold, end: End): Promise<boolean> {
  const isPublished = await whileHeld(hold, async () => {
    await producer.publish([endEvent(job, end)]);
    return true;
  });
  if (!isPublished) return false;
  crashPoint('inference.end.published');
  const isFinished = await whileHeld(hold, () => finishJob(db, job, end.ending));
  if (isFinished) signals.jobEnded(job, end.ending);
  return isFinished === true;
}

/** Retries work through outages while this worker may publish; undefined when it no longer may. */
async function whileHeld<T>({ check, publishing: signal }: Hold, work: () => Promise<T>): Promise<T | undefined> {
  try {
    check();
    return await retryUntil(work, { signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function release({ db, logger, progress }: WorkDeps, job: JobRecord): Promise<void> {
  try {
    await releaseJob(db, job, progress.of(job));
  } catch (error) {
    logger.warn(
      { err: error, task_id: job.jobId },
      'a job could not be released; another worker claims it when its lease ends',
    );
  }
}

/** A short reason that users may see. Unexpected errors go to the log. */
function reasonOf({ logger }: WorkDeps, { jobId }: JobRecord, error: unknown): string {
  if (error instanceof SourceError) return error.reason;
  const known = asAppError(error);
  if (known) return known.reason;
  logger.error({ err: error, task_id: jobId }, 'a job failed by an unexpected error');
  return 'internal';
}

function endEvent({ jobId }: JobRecord, { ending, framesPublished, framesPartition: partition }: End) {
  const { type, topic } = jobEnded;
  const { attempt, status, error, frames } = ending;
  const data = {
    job_id: jobId,
    attempt,
    status,
    frames_published: framesPublished,
    attempt_frames: { count: frames.count, first_seq: frames.firstSeq, last_seq: frames.lastSeq },
    ...(error === undefined ? {} : { error }),
  };
  return { topic, type, key: jobId, partition, source: 'inference', id: `${jobId}/end/${attempt}`, data };
}
