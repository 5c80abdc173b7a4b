import type { Knex } from 'knex';
import type { JobStatus } from '@vision/contracts/inference';
import type { JobProgress } from '../domain/job-progress.ts';
import { columnsOfFences, fenceKey } from './held-jobs.ts';
import type { Fence } from './held-jobs.ts';

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
// A renewal that was held up comes behind a later one, or behind the ending: what it says is older than the row.
const FURTHER = 'held.last_seq > jobs.last_seq';
const RENEW = `${HELD},
  written as (
    update jobs
       set lease_until = case when lease_until < now() + make_interval(secs => :freshS)
                              then now() + make_interval(secs => :leaseS) else lease_until end,
           frames_published = case when ${FURTHER} then held.published else jobs.frames_published end,
           last_seq = case when ${FURTHER} then held.last_seq else jobs.last_seq end,
           last_time_ms = case when ${FURTHER} then held.last_time_ms else jobs.last_time_ms end,
           away_since = case when ${FURTHER} then null else jobs.away_since end,
           updated_at = case when ${FURTHER} then now() else jobs.updated_at end
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
