import type { Knex } from 'knex';
import type { JobStatus } from '@vision/shared/contracts/inference';
import { claimDue } from '@vision/shared/db/leases';
import { ACTIVE } from '../domain/job.ts';
import type { JobRecord, StoredEnding } from '../domain/job.ts';
import type { JobProgress } from '../domain/job-progress.ts';

interface JobRow {
  job_id: string;
  fingerprint: string | null;
  scene_code: string | null;
  lower_bound: number | null;
  source_kind: 'stream' | 'object' | null;
  object_key: string | null;
  stream_url: Buffer | null;
  pinned_address: string | null;
  status: JobStatus;
  attempt: number;
  frames_published: number | string;
  last_seq: number | string;
  last_time_ms: number | string | null;
  reserved_seq: number | string;
  drops: Record<string, number>;
  ending: StoredEnding | null;
  error: string | null;
  traceparent: string | null;
  tracestate: string | null;
}

/** A job nobody has worked on yet. */
export type SubmittedJob = Pick<
  JobRecord,
  'jobId' | 'fingerprint' | 'sceneCode' | 'lowerBound' | 'source' | 'traceparent' | 'tracestate'
>;

export async function findJobs(db: Knex, ids: readonly string[]): Promise<JobRecord[]> {
  const rows = await db<JobRow>('jobs')
    .select('*')
    .whereIn('job_id', [...ids]);
  return rows.map(toRecord);
}

/** False when the id is taken. */
export async function insertJob(db: Knex, { source, ...job }: SubmittedJob): Promise<boolean> {
  const isStream = source.kind === 'stream';
  const row = {
    job_id: job.jobId,
    fingerprint: job.fingerprint,
    scene_code: job.sceneCode,
    lower_bound: job.lowerBound,
    source_kind: source.kind,
    object_key: isStream ? null : source.key,
    stream_url: isStream ? source.sealedUrl : null,
    pinned_address: isStream ? (source.pinnedAddress ?? null) : null,
    status: 'queued',
    traceparent: job.traceparent,
    tracestate: job.tracestate,
  };
  const inserted = await db('jobs').insert(row).onConflict('job_id').ignore().returning('job_id');
  return inserted.length === 1;
}

/** Records an id nobody submitted yet as stopped; false when it is known. */
export async function insertStopped(db: Knex, jobId: string): Promise<boolean> {
  const row = { job_id: jobId, status: 'stopped', ended_at: db.fn.now() };
  const inserted = await db('jobs').insert(row).onConflict('job_id').ignore().returning('job_id');
  return inserted.length === 1;
}

/** Asks a job to stop; ended ones stay as they are. */
export async function markStopping(db: Knex, jobId: string): Promise<void> {
  await db('jobs')
    .where({ job_id: jobId })
    .whereIn('status', ['queued', 'running'])
    .update({ status: 'stopping', updated_at: db.fn.now() });
}

export async function countActive(db: Knex): Promise<number> {
  const rows = await db('jobs')
    .whereIn('status', [...ACTIVE])
    .count<{ count: string | number }[]>({ count: '*' });
  return Number(rows[0]?.count ?? 0);
}

/** Jobs that are to end: stopped by their callers, or with an ending that nobody has announced. */
const ENDING = `(status = 'stopping' or status in ('queued', 'running') and ending is not null)`;
/** Jobs that wait for a place. */
const WAITING = `(status in ('queued', 'running') and ending is null)`;

/** Takes jobs that nobody works on. Each comes with an attempt number of its own. */
export async function claimJobs(
  db: Knex,
  { which, leaseMs, limit }: { which: 'ending' | 'waiting'; leaseMs: number; limit: number },
): Promise<JobRecord[]> {
  const where = db.raw(which === 'ending' ? ENDING : WAITING);
  const rows = await claimDue<JobRow>(db, { table: 'jobs', key: 'job_id', leaseMs, limit, where });
  return rows.map(toRecord);
}

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
 * Records that the job runs, unless it is to stop, and that frame numbers below `ceiling` are this attempt's.
 *
 * @returns its status now; undefined when it does not belong to the attempt given
 */
export async function markRunning(db: Knex, fence: Fence, ceiling: number): Promise<JobStatus | undefined> {
  const [changed] = await fenced(db, fence)
    .whereIn('status', [...ACTIVE])
    .update({
      status: db.raw(`case status when 'stopping' then 'stopping' else 'running' end`),
      reserved_seq: db.raw('greatest(reserved_seq, ?)', [ceiling]),
      updated_at: db.fn.now(),
    })
    .returning<{ status: JobStatus }[]>('status');
  return changed?.status;
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
 * @returns false when the job does not belong to the attempt given
 */
export async function storeEnding(
  db: Knex,
  fence: Fence,
  { ending, progress }: { ending: StoredEnding; progress: JobProgress },
): Promise<boolean> {
  const changed = await fenced(db, fence)
    .whereIn('status', [...ACTIVE])
    .update({
      ending: JSON.stringify(ending),
      frames_published: progress.framesPublished,
      last_seq: progress.lastSeq,
      last_time_ms: progress.lastTimeMs,
      updated_at: db.fn.now(),
    });
  return changed === 1;
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

export interface Unattended {
  jobId: string;
  status: JobStatus;
  attempt: number;
}

/** Jobs (of these) that have not ended and whose lease has run out, those that wait longest first. */
export async function findUnattended(
  db: Knex,
  { ids, limit }: { ids?: string[]; limit: number },
): Promise<Unattended[]> {
  const query = db('jobs')
    .whereIn('status', [...ACTIVE])
    .where('lease_until', '<=', db.fn.now())
    .orderBy('lease_until')
    .limit(limit);
  if (ids) void query.whereIn('job_id', ids);
  return query.select<Unattended[]>('job_id as jobId', 'status', 'attempt');
}

/** Lets another worker have the job at once. */
export async function releaseJob(db: Knex, fence: Fence): Promise<void> {
  await fenced(db, fence).update({ lease_until: db.fn.now() });
}

export async function deleteEndedBefore(db: Knex, days: number): Promise<number> {
  return db('jobs').whereRaw('ended_at < now() - make_interval(days => ?)', [days]).delete();
}

function fenced(db: Knex, { jobId, attempt }: Fence) {
  return db('jobs').where({ job_id: jobId, attempt });
}

function toRecord(row: JobRow): JobRecord {
  const isStream = row.source_kind === 'stream';
  return {
    jobId: row.job_id,
    fingerprint: row.fingerprint ?? undefined,
    sceneCode: row.scene_code ?? '',
    lowerBound: row.lower_bound ?? 0,
    source: isStream
      ? { kind: 'stream', sealedUrl: row.stream_url ?? Buffer.of(), pinnedAddress: row.pinned_address ?? undefined }
      : { kind: 'object', key: row.object_key ?? '' },
    status: row.status,
    attempt: row.attempt,
    framesPublished: Number(row.frames_published),
    lastSeq: Number(row.last_seq),
    lastTimeMs: row.last_time_ms === null ? undefined : Number(row.last_time_ms),
    reservedSeq: Number(row.reserved_seq),
    framesDropped: Object.values(row.drops).reduce((sum, dropped) => sum + dropped, 0),
    ending: row.ending ?? undefined,
    error: row.error ?? undefined,
    traceparent: row.traceparent,
    tracestate: row.tracestate,
  };
}
