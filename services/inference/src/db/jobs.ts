import type { Knex } from 'knex';
import { RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { JobStatus } from '@vision/contracts/inference';
import { ACTIVE } from '../domain/job.ts';
import type { JobRecord, StoredEnding, UnheldJobs } from '../domain/job.ts';
import type { ActiveJobs } from '../domain/room.ts';

export interface JobRow {
  job_id: string;
  fingerprint: string | null;
  scene_code: string | null;
  lower_bound: number | null;
  calibration: Calibration | null;
  model: string | null;
  source_kind: 'stream' | 'object' | null;
  object_key: string | null;
  stream_url: Buffer | null;
  pinned_address: string | null;
  status: JobStatus;
  attempt: number;
  claim: string;
  frames_published: number | string;
  last_seq: number | string;
  last_time_ms: number | string | null;
  reserved_seq: number | string;
  frames_partition: number | null;
  drops: Record<string, number>;
  strikes: number[];
  snapshots: boolean;
  give_up_after_s: number | null;
  away_since: Date | null;
  parked_attempt: number | null;
  claimed_at: Date | null;
  behind_since: Date | null;
  ending: StoredEnding | null;
  error: string | null;
  traceparent: string | null;
  tracestate: string | null;
}

/** A job that no worker has claimed yet. */
export type SubmittedJob = Pick<
  JobRecord,
  | 'jobId'
  | 'fingerprint'
  | 'sceneCode'
  | 'lowerBound'
  | 'calibration'
  | 'model'
  | 'source'
  | 'hasSnapshots'
  | 'giveUpAfterS'
  | 'traceparent'
  | 'tracestate'
>;

export async function findJobs(db: Knex, ids: readonly string[]): Promise<JobRecord[]> {
  const rows = await db<JobRow>('jobs')
    .select('*')
    .whereIn('job_id', [...ids]);
  return rows.map(toRecord);
}

/** Jobs that have not ended, in the order of their ids, after this id. */
export async function findActive(db: Knex, { after, limit }: { after: string; limit: number }): Promise<JobRecord[]> {
  const rows = await db<JobRow>('jobs')
    .select('*')
    .whereIn('status', [...ACTIVE])
    .where('job_id', '>', after)
    .orderBy('job_id')
    .limit(limit);
  return rows.map(toRecord);
}

/** Returns false when the id exists. */
export async function insertJob(db: Knex, { source, ...job }: SubmittedJob): Promise<boolean> {
  const isStream = source.kind === 'stream';
  const row = {
    job_id: job.jobId,
    fingerprint: job.fingerprint,
    scene_code: job.sceneCode,
    lower_bound: job.lowerBound,
    calibration: JSON.stringify(job.calibration),
    model: job.model ?? null,
    source_kind: source.kind,
    object_key: isStream ? null : source.key,
    stream_url: isStream ? source.sealedUrl : null,
    pinned_address: isStream ? (source.pinnedAddress ?? null) : null,
    status: 'queued',
    snapshots: job.hasSnapshots,
    give_up_after_s: job.giveUpAfterS ?? null,
    traceparent: job.traceparent,
    tracestate: job.tracestate,
  };
  const inserted = await db('jobs').insert(row).onConflict('job_id').ignore().returning('job_id');
  return inserted.length === 1;
}

/** Records an unknown id as stopped; returns false when it exists. */
export async function insertStopped(db: Knex, jobId: string): Promise<boolean> {
  const row = { job_id: jobId, status: 'stopped', ended_at: db.fn.now() };
  const inserted = await db('jobs').insert(row).onConflict('job_id').ignore().returning('job_id');
  return inserted.length === 1;
}

/** Requests that a job stops; ended jobs stay as they are. */
export async function markStopping(db: Knex, jobId: string): Promise<void> {
  await db('jobs')
    .where({ job_id: jobId })
    .whereIn('status', ['queued', 'running'])
    .update({ status: 'stopping', updated_at: db.fn.now() });
}

/** Parked, and not claimed since: the claim of an earlier release leaves `parked_until` unchanged. */
export const IS_ASIDE = '(parked_until is not null and parked_attempt is not distinct from attempt)';
/** A stream that has been unavailable for long. No worker holds it; claiming it takes a slot again. */
const IS_PARKED = `(${IS_ASIDE} and lease_until <= now() and status in ('queued', 'running'))`;
/**
 * A parked stream that is not due. A time further ahead than any pause was written while the clock of the database was
 * ahead, so it is ignored.
 */
export const IS_RESTING = `(${IS_ASIDE} and parked_until > now() and parked_until < now() + interval '1 hour')`;
/** A parked stream whose time has expired: it ends without another connection, and so without a slot. */
export const IS_GIVEN_UP = `(${IS_ASIDE} and away_since + make_interval(secs => give_up_after_s) <= now())`;
/** A parked stream that may wait. One whose time has expired may not: a worker has to end it. */
const MAY_WAIT = `(${IS_PARKED} and not coalesce(${IS_GIVEN_UP}, false))`;

/** Numbers of jobs that have not ended and take a slot, and of the live streams among them. */
export async function countActive(db: Knex): Promise<ActiveJobs> {
  const { rows } = await db.raw<{ rows: { jobs: string; live: string }[] }>(
    `select count(*) as jobs, count(*) filter (where source_kind = 'stream') as live
       from jobs where status = any(?) and not ${IS_PARKED}`,
    [[...ACTIVE]],
  );
  return { jobs: Number(rows[0]?.jobs), live: Number(rows[0]?.live) };
}

/** Numbers of jobs that have not ended and that no worker holds. */
export async function countUnheld(db: Knex): Promise<UnheldJobs> {
  const { rows } = await db.raw<{ rows: [UnheldJobs] }>(
    `select count(*) filter (where not ${MAY_WAIT})::int as unowned, count(*) filter (where ${MAY_WAIT})::int as parked
       from jobs where status = any(?) and lease_until <= now()`,
    [[...ACTIVE]],
  );
  return rows[0];
}

/** Whether there is anything to claim; the index of leases answers it. */
export const ANY_DUE = `exists (
  select from jobs where status in ('queued', 'running', 'stopping') and lease_until <= now()
     and (status = 'stopping' or not ${IS_RESTING}))`;

/** A cheap query before the claims of each kind. */
export async function isAnythingDue(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ is_due: boolean }] }>(`select ${ANY_DUE} as is_due`);
  return rows[0].is_due;
}

export interface Unattended {
  jobId: string;
  status: JobStatus;
  attempt: number;
}

/** Of the given jobs, those that have not ended and whose lease has expired, the longest waiting first. */
export async function findUnattended(
  db: Knex,
  { ids, limit }: { ids?: string[]; limit: number },
): Promise<Unattended[]> {
  const query = db('jobs')
    .whereIn('status', [...ACTIVE])
    .where('lease_until', '<=', db.fn.now())
    .whereRaw(`not ${MAY_WAIT}`)
    .orderBy('lease_until')
    .limit(limit);
  if (ids) void query.whereIn('job_id', ids);
  return query.select<Unattended[]>('job_id as jobId', 'status', 'attempt');
}

export async function deleteEndedBefore(db: Knex, days: number): Promise<number> {
  return db('jobs').whereRaw('ended_at < now() - make_interval(days => ?)', [days]).delete();
}

/** The job that a row stores. */
export function toRecord(row: JobRow): JobRecord {
  const isStream = row.source_kind === 'stream';
  return {
    jobId: row.job_id,
    fingerprint: row.fingerprint ?? undefined,
    sceneCode: row.scene_code ?? '',
    lowerBound: row.lower_bound ?? 0,
    // A job that was stored by a release without calibrations continues with the scores of the model.
    calibration: row.calibration ?? RAW_SCORES,
    model: row.model ?? undefined,
    source: isStream
      ? { kind: 'stream', sealedUrl: row.stream_url ?? Buffer.of(), pinnedAddress: row.pinned_address ?? undefined }
      : { kind: 'object', key: row.object_key ?? '' },
    status: row.status,
    attempt: row.attempt,
    claim: row.claim,
    framesPublished: Number(row.frames_published),
    lastSeq: Number(row.last_seq),
    lastTimeMs: row.last_time_ms === null ? undefined : Number(row.last_time_ms),
    reservedSeq: Number(row.reserved_seq),
    framesPartition: row.frames_partition ?? undefined,
    framesDropped: Object.values(row.drops).reduce((sum, dropped) => sum + dropped, 0),
    behindSince: row.behind_since ?? undefined,
    ending: row.ending ?? undefined,
    error: row.error ?? undefined,
    strikes: row.strikes.length,
    hasSnapshots: row.snapshots,
    giveUpAfterS: row.give_up_after_s ?? undefined,
    awayMs: awayMsOf(row),
    traceparent: row.traceparent,
    tracestate: row.tracestate,
  };
}

/** A worker of an earlier release that held the job since leaves `away_since` unchanged even if it received frames. */
function awayMsOf({ away_since: since, claimed_at: claimedAt, parked_attempt: ofAttempt, attempt }: JobRow) {
  if (!since || !claimedAt || ofAttempt !== attempt) return undefined;
  return Math.max(0, claimedAt.getTime() - since.getTime());
}
