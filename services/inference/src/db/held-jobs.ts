import type { Knex } from 'knex';
import type { JobStatus } from '@vision/shared/contracts/inference';
import { ACTIVE } from '../domain/job.ts';
import type { StoredEnding } from '../domain/job.ts';
import type { JobProgress } from '../domain/job-progress.ts';

export interface Fence {
  jobId: string;
  attempt: number;
}

/** What a job is known by while one attempt holds it. */
export const fenceKey = ({ jobId, attempt }: Fence): string => `${jobId}/${attempt}`;

/**
 * Extends the leases of a worker's jobs. A connection that does not answer within `timeoutMs` is not used again.
 *
 * @returns the status by `fenceKey` of each job that still belongs to the attempt given; the others were taken over
 */
export async function renewJobs(
  db: Knex,
  held: readonly Fence[],
  { leaseMs, timeoutMs }: { leaseMs: number; timeoutMs: number },
): Promise<Map<string, JobStatus>> {
  const { rows } = await db
    .raw<{ rows: { job_id: string; attempt: number; status: JobStatus }[] }>(
      `update jobs set lease_until = now() + make_interval(secs => :leaseS)
         from unnest(:ids::uuid[], :attempts::int[]) as held (job_id, attempt)
        where jobs.job_id = held.job_id and jobs.attempt = held.attempt
        returning jobs.job_id, jobs.attempt, jobs.status`,
      { leaseS: leaseMs / 1000, ids: held.map((job) => job.jobId), attempts: held.map((job) => job.attempt) },
    )
    .timeout(timeoutMs);
  return new Map(rows.map((row) => [fenceKey({ jobId: row.job_id, attempt: row.attempt }), row.status]));
}

/**
 * Makes sure that no later attempt begins below `ceiling`: its frame numbers are the given attempt's alone.
 *
 * @returns the ceiling that is confirmed; undefined when the job does not belong to the attempt given
 */
export async function raiseCeiling(
  db: Knex,
  fence: Fence,
  { ceiling, timeoutMs }: { ceiling: number; timeoutMs: number },
): Promise<number | undefined> {
  const [changed] = await fenced(db, fence)
    .update({ reserved_seq: db.raw('greatest(reserved_seq, ?)', [ceiling]) })
    .returning<{ reserved_seq: number | string }[]>('reserved_seq')
    .timeout(timeoutMs);
  return changed && Number(changed.reserved_seq);
}

/**
 * Records that the job runs, unless it is to stop, that frame numbers below `ceiling` are this attempt's, and the
 * partition of its messages, which the first attempt settles for all.
 *
 * @returns its status now and the partition; undefined when it does not belong to the attempt given
 */
export async function markRunning(
  db: Knex,
  fence: Fence,
  { ceiling, framesPartition }: { ceiling: number; framesPartition: number },
): Promise<{ status: JobStatus; framesPartition: number } | undefined> {
  const [changed] = await fenced(db, fence)
    .whereIn('status', [...ACTIVE])
    .update({
      status: db.raw(`case status when 'stopping' then 'stopping' else 'running' end`),
      reserved_seq: db.raw('greatest(reserved_seq, ?)', [ceiling]),
      frames_partition: db.raw('coalesce(frames_partition, ?::int)', [framesPartition]),
      updated_at: db.fn.now(),
    })
    .returning<{ status: JobStatus; framesPartition: number }[]>(['status', 'frames_partition as framesPartition']);
  return changed;
}

export async function recordProgress(db: Knex, fence: Fence, progress: JobProgress): Promise<void> {
  await fenced(db, fence).update({
    frames_published: progress.framesPublished,
    last_seq: progress.lastSeq,
    last_time_ms: progress.lastTimeMs,
    updated_at: db.fn.now(),
  });
}

/**
 * Stores how a job ends, with its counts, before anybody is told. From then on nobody works on it any more; whoever
 * has it only announces the ending.
 *
 * @returns the partition of its messages; undefined when the job does not belong to the attempt given
 */
export async function storeEnding(
  db: Knex,
  fence: Fence,
  { ending, progress }: { ending: StoredEnding; progress: JobProgress },
): Promise<{ framesPartition: number | null } | undefined> {
  const [changed] = await fenced(db, fence)
    .whereIn('status', [...ACTIVE])
    .update({
      ending: JSON.stringify(ending),
      frames_published: progress.framesPublished,
      last_seq: progress.lastSeq,
      last_time_ms: progress.lastTimeMs,
      updated_at: db.fn.now(),
    })
    .returning<{ framesPartition: number | null }[]>('frames_partition as framesPartition');
  return changed;
}

/** Ends a job whose end mark is published. The stream's address is not needed any more and goes. */
export async function finishJob(db: Knex, fence: Fence, { status, error }: StoredEnding): Promise<boolean> {
  const changed = await fenced(db, fence)
    .whereIn('status', [...ACTIVE])
    .update({
      status,
      error: error ?? null,
      stream_url: null,
      pinned_address: null,
      ended_at: db.fn.now(),
      updated_at: db.fn.now(),
    });
  return changed === 1;
}

/** Lets another worker have the job at once. */
export async function releaseJob(db: Knex, fence: Fence): Promise<void> {
  await fenced(db, fence).update({ lease_until: db.fn.now() });
}

function fenced(db: Knex, { jobId, attempt }: Fence) {
  return db('jobs').where({ job_id: jobId, attempt });
}
