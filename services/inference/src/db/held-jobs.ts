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

/** A job that a worker holds, and how far it is when that is to be stored. */
export interface HeldJobState extends Fence {
  progress: JobProgress | undefined;
}

/** A job as its row says. */
export interface HeldJobRow {
  status: JobStatus;
  /** What is left of its lease. */
  leaseLeftMs: number;
  /** For how much longer its newest frame is wanted; null: it was not asked for. */
  snapshotWantedMs: number | null;
}

/** A lease is extended when less than this share of it is left: each extension is an entry in an index. */
const FRESH_SHARE = 0.8;

/**
 * Looks at a worker's jobs, extends leases that are no longer fresh, and stores how far the jobs are, all in one
 * statement. A connection that does not answer within `timeoutMs` is not used again.
 *
 * @returns by `fenceKey` each job that still belongs to the attempt given; the others were taken over
 */
export async function renewJobs(
  db: Knex,
  held: readonly HeldJobState[],
  { leaseMs, timeoutMs }: { leaseMs: number; timeoutMs: number },
): Promise<Map<string, HeldJobRow>> {
  const times = { leaseS: leaseMs / 1000, freshS: (leaseMs / 1000) * FRESH_SHARE };
  const renewed = await byFence(db.raw<Renewed>(RENEW, { ...times, ...columnsOf(held) }), timeoutMs);
  const missing = held.filter((job) => !renewed.has(fenceKey(job)));
  if (missing.length === 0) return renewed;
  // A row that another renewal of this worker extended meanwhile was stale in the snapshot and fresh when its lock
  // was free, so RENEW returns it in neither part. A later snapshot tells such a row from one of another attempt.
  const present = await byFence(db.raw<Renewed>(READ, { ...columnsOf(missing) }), timeoutMs);
  return new Map([...renewed, ...present]);
}

const HELD = `
  with held as (
    select * from unnest(:ids::uuid[], :attempts::int[], :claims::uuid[], :published::bigint[], :lastSeqs::bigint[],
                         :lastTimes::bigint[]) as held (job_id, attempt, claim, published, last_seq, last_time_ms))`;
const COLUMNS = `job_id as "jobId", attempt, claim, status,
  (extract(epoch from lease_until - now()) * 1000)::float8 as "leaseLeftMs",
  (extract(epoch from snapshot_wanted_until - now()) * 1000)::float8 as "snapshotWantedMs"`;
const SAME = 'jobs.job_id = held.job_id and jobs.attempt = held.attempt and jobs.claim = held.claim';
const RENEW = `${HELD},
  written as (
    update jobs
       set lease_until = case when lease_until < now() + make_interval(secs => :freshS)
                              then now() + make_interval(secs => :leaseS) else lease_until end,
           frames_published = coalesce(held.published, jobs.frames_published),
           last_seq = coalesce(held.last_seq, jobs.last_seq),
           last_time_ms = coalesce(held.last_time_ms, jobs.last_time_ms),
           away_since = case when held.published is null then jobs.away_since end,
           updated_at = case when held.published is null then jobs.updated_at else now() end
      from held
     where ${SAME}
       and (held.published is not null or jobs.lease_until < now() + make_interval(secs => :freshS))
    returning jobs.job_id, jobs.attempt, jobs.claim, jobs.status, jobs.lease_until, jobs.snapshot_wanted_until),
  seen as (
    select * from written
    union all
    select jobs.job_id, jobs.attempt, jobs.claim, jobs.status, jobs.lease_until, jobs.snapshot_wanted_until
      from jobs join held on ${SAME}
     where held.published is null and jobs.lease_until >= now() + make_interval(secs => :freshS))
  select ${COLUMNS} from seen`;
const READ = `${HELD} select ${COLUMNS} from jobs join held using (job_id, attempt, claim)`;

interface Renewed {
  rows: (HeldJobRow & Fence)[];
}

async function byFence(query: Knex.Raw<Renewed>, timeoutMs: number): Promise<Map<string, HeldJobRow>> {
  const { rows } = await query.timeout(timeoutMs);
  return new Map(rows.map((row) => [fenceKey(row), row]));
}

function columnsOf(held: readonly HeldJobState[]) {
  return {
    ...columnsOfFences(held),
    published: held.map(({ progress }) => progress?.framesPublished ?? null),
    lastSeqs: held.map(({ progress }) => progress?.lastSeq ?? null),
    lastTimes: held.map(({ progress }) => progress?.lastTimeMs ?? null),
  };
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
