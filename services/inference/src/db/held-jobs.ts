import type { Knex } from 'knex';
import type { JobStatus } from '@vision/contracts/inference';
import { ACTIVE } from '../domain/job.ts';
import type { StoredEnding } from '../domain/job.ts';
import type { JobProgress } from '../domain/job-progress.ts';

/**
 * One holder of a job. Both fields are needed: only the attempt distinguishes holders of the previous release, and only
 * the claim does after a failover that lost a claim, as the next attempt gets the same number.
 */
export interface Fence {
  jobId: string;
  attempt: number;
  claim: string;
}

/** Key of a job for the time of one claim. */
export const fenceKey = ({ jobId, attempt, claim }: Fence): string => `${jobId}/${attempt}/${claim}`;

/**
 * Ensures that no later attempt begins below `ceiling`: the frame numbers below it belong to the given attempt only.
 *
 * @returns the confirmed ceiling; undefined when the job does not belong to the given attempt
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
 * Records that the job runs (unless it must stop), that frame numbers below `ceiling` belong to this attempt, and the
 * partition of its messages, which the first attempt sets for all.
 *
 * @returns its current status and the partition; undefined when it does not belong to the given attempt
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
      behind_since: null,
      updated_at: db.fn.now(),
    })
    .returning<{ status: JobStatus; framesPartition: number }[]>(['status', 'frames_partition as framesPartition']);
  return changed;
}

/**
 * Counts an attempt that ended because its machine lacked a resource.
 *
 * @returns the number of such attempts; undefined when the job does not belong to the given attempt
 */
export async function countShortage(db: Knex, fence: Fence): Promise<number | undefined> {
  const [changed] = await fenced(db, fence)
    .update({ shortages: db.raw('shortages + 1') })
    .returning<{ shortages: number }[]>('shortages');
  return changed?.shortages;
}

/** Records that a live stream is below its frame rate, or at its full rate again. */
export async function recordRate(db: Knex, fence: Fence, isBehind: boolean): Promise<void> {
  await fenced(db, fence).update({ behind_since: isBehind ? db.fn.now() : null });
}

/**
 * Stores how a job ends, with its counts, before the end is published. From then on its holder only publishes the
 * ending.
 *
 * @returns the partition of its messages; undefined when the job does not belong to the given attempt
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
      ...countsOf(db, progress),
    })
    .returning<{ framesPartition: number | null }[]>('frames_partition as framesPartition');
  return changed;
}

/** Ends a job whose end-of-stream marker is published, and deletes the stream's address, which is no longer needed. */
export async function finishJob(db: Knex, fence: Fence, { status, error }: StoredEnding): Promise<boolean> {
  const changed = await fenced(db, fence)
    .whereIn('status', [...ACTIVE])
    .update({
      status,
      error: error ?? null,
      stream_url: null,
      pinned_address: null,
      held_by: null,
      ended_at: db.fn.now(),
      updated_at: db.fn.now(),
    });
  return changed === 1;
}

/** Releases the job: another worker can claim it at once and continues after the stored progress. */
export async function releaseJob(db: Knex, fence: Fence, progress: JobProgress | undefined): Promise<void> {
  await fenced(db, fence).update(letGo(db, progress));
}

interface Away {
  awayMs: number;
  isNew: boolean;
}

/**
 * Releases a live stream that has been unavailable for long, and its slot: it is claimed again after `reopenMs`, or
 * when its time has expired.
 *
 * @param awayMs time since its last frame
 * @param isNew false when it was parked before in the same outage, whose start then stays unchanged: each attempt would
 * move it by the time that the attempt takes to begin and to end
 * @returns false when the job does not belong to the given attempt
 */
export async function parkJob(
  db: Knex,
  fence: Fence,
  { awayMs, isNew, reopenMs, progress }: Away & { reopenMs: number; progress: JobProgress | undefined },
): Promise<boolean> {
  const lastFrame = 'now() - make_interval(secs => :awayS)';
  const since = isNew ? lastFrame : `coalesce(away_since, ${lastFrame})`;
  const times = { awayS: awayMs / 1000, reopenS: reopenMs / 1000 };
  const parked = await fenced(db, fence).update({
    ...letGo(db, progress),
    behind_since: null,
    parked_attempt: fence.attempt,
    away_since: db.raw(since, times),
    parked_until: db.raw(
      `least(now() + make_interval(secs => :reopenS), ${since} + make_interval(secs => give_up_after_s))`,
      times,
    ),
  });
  return parked === 1;
}

/** Clears the claim too: otherwise a renewal in progress would hold the job for another lease. */
function letGo(db: Knex, progress: JobProgress | undefined) {
  const free = { lease_until: db.fn.now(), held_by: null, claim: db.raw('gen_random_uuid()') };
  return { ...free, ...(progress ? countsOf(db, progress) : {}) };
}

function countsOf(db: Knex, { framesPublished, lastSeq, lastTimeMs }: JobProgress) {
  const counts = { frames_published: framesPublished, last_seq: lastSeq, last_time_ms: lastTimeMs };
  return { ...counts, away_since: null, updated_at: db.fn.now() };
}

/** The row of a job, if it belongs to this holder. */
export function fenced(db: Knex, { jobId, attempt, claim }: Fence) {
  return db('jobs').where({ job_id: jobId, attempt, claim });
}

export function columnsOfFences(fences: readonly Fence[]) {
  return {
    ids: fences.map(({ jobId }) => jobId),
    attempts: fences.map(({ attempt }) => attempt),
    claims: fences.map(({ claim }) => claim),
  };
}
