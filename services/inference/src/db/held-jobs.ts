import type { Knex } from 'knex';
import type { JobStatus } from '@vision/contracts/inference';
import { ACTIVE } from '../domain/job.ts';
import type { StoredEnding } from '../domain/job.ts';
import type { JobProgress } from '../domain/job-progress.ts';

/**
 * One holder of a job. The attempt alone tells holders of the release before apart from those of this one; the claim
 * alone does after a failover that lost a claim, as the next one gets the same number.
 */
export interface Fence {
  jobId: string;
  attempt: number;
  claim: string;
}

/** What a job is known by while one claim holds it. */
export const fenceKey = ({ jobId, attempt, claim }: Fence): string => `${jobId}/${attempt}/${claim}`;

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
      behind_since: null,
      updated_at: db.fn.now(),
    })
    .returning<{ status: JobStatus; framesPartition: number }[]>(['status', 'frames_partition as framesPartition']);
  return changed;
}

/**
 * Counts an attempt that ended because its machine lacked something.
 *
 * @returns how many there were; undefined when the job does not belong to the attempt given
 */
export async function countShortage(db: Knex, fence: Fence): Promise<number | undefined> {
  const [changed] = await fenced(db, fence)
    .update({ shortages: db.raw('shortages + 1') })
    .returning<{ shortages: number }[]>('shortages');
  return changed?.shortages;
}

/** Records that a live stream gets less than its rate, or all of it again. */
export async function recordRate(db: Knex, fence: Fence, isBehind: boolean): Promise<void> {
  await fenced(db, fence).update({ behind_since: isBehind ? db.fn.now() : null });
}

/**
 * Stores how a job ends, with its counts, before the end is published. No worker works on it any more; the one that
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
      ...countsOf(db, progress),
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
      held_by: null,
      ended_at: db.fn.now(),
      updated_at: db.fn.now(),
    });
  return changed === 1;
}

/** Lets another worker have the job at once; it continues behind the stored progress. */
export async function releaseJob(db: Knex, fence: Fence, progress: JobProgress | undefined): Promise<void> {
  await fenced(db, fence).update(letGo(db, progress));
}

interface Away {
  awayMs: number;
  isNew: boolean;
}

/**
 * Lets go of a live stream that is away for long, and of its slot: it is taken again after `reopenMs`, or when its time
 * is over.
 *
 * @param awayMs time since its last frame
 * @param isNew false when it was let go of before for the same absence, whose beginning stays as it was: each attempt
 * would move it by what it takes to begin and to end
 * @returns false when the job does not belong to the attempt given
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

/** The claim ends with it: a renewal that was under way would hold the job for another lease. */
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
