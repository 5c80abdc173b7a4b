import type { Knex } from 'knex';
import { claimDue } from '@vision/shared/db/leases';
import type { JobRecord } from '../domain/job.ts';
import { columnsOfFences, fenced } from './held-jobs.ts';
import type { Fence } from './held-jobs.ts';
import { IS_ASIDE, IS_GIVEN_UP, IS_RESTING, toRecord } from './jobs.ts';
import type { JobRow } from './jobs.ts';

/** Jobs that must end: stopped by their callers, past their time, or with a stored ending that is not published yet. */
const ENDING = `(status = 'stopping' or status in ('queued', 'running') and (ending is not null or ${IS_GIVEN_UP}))`;
/** Jobs that wait for a slot. */
const UNDECIDED = `status in ('queued', 'running') and ending is null and not ${IS_RESTING}`;

/** Another worker held the job until its lease ended and did not release it. */
const DIED = `(held_by is not null and held_by <> :worker and claimed_at > now() - interval '1 hour')`;
/** An attempt that ran for an hour shows that the job does not crash its processes. */
const LASTED = `(held_by is not null and claimed_at <= now() - interval '1 hour')`;
/** A process may crash for many reasons; a job that two crashed processes held is a suspect. */
const IS_SUSPECT = `(not ${LASTED} and cardinality(deaths) + (${DIED})::int >= 2)`;
/** Accepted against a slot, and not held by a worker. */
const WAITING = `(${UNDECIDED} and not ${IS_SUSPECT} and not ${IS_ASIDE})`;
/** An accepted job that no worker with capacity for its kind has claimed goes to any worker with a free slot. */
const LEFT = `(due.lease_until < now() - interval '2 seconds')`;
const CONDITIONS = {
  ending: ENDING,
  waiting: WAITING,
  'waiting-streams': `(${WAITING} and (source_kind = 'stream' or ${LEFT}))`,
  'waiting-files': `(${WAITING} and (source_kind = 'object' or ${LEFT}))`,
  'waiting-left': `(${WAITING} and ${LEFT})`,
  // A worker without space for another file claims none, however long the file has waited.
  streams: `(${WAITING} and source_kind = 'stream')`,
  'streams-left': `(${WAITING} and source_kind = 'stream' and ${LEFT})`,
  // It has released its slot, so accepted jobs come first.
  parked: `(${UNDECIDED} and not ${IS_SUSPECT} and ${IS_ASIDE})`,
  suspects: `(${UNDECIDED} and ${IS_SUSPECT})`,
  'suspects-left': `(${UNDECIDED} and ${IS_SUSPECT} and due.lease_until < now() - interval '60 seconds' and not ${IS_ASIDE})`,
} as const;
export type Claimable = keyof typeof CONDITIONS;

const SET = `, claim = gen_random_uuid(), held_by = :worker, held_alone = :isAlone, claimed_at = now(), parked_until = null,
  parked_attempt = case when parked_attempt = attempt then attempt + 1 end,
  deaths = case when ${LASTED} then '{}' when ${DIED} then deaths || attempt else deaths end,
  strikes = case when ${LASTED} then '{}' when ${DIED} and held_alone then strikes || attempt else strikes end`;
/** The job that outlived most processes first; among equals the newest, as it arrived just before the crashes. */
const MOST_SUSPECT = `cardinality(due.deaths) + (${DIED})::int desc, due.created_at desc`;

export interface JobClaim {
  which: Claimable;
  leaseMs: number;
  limit: number;
  /** The worker that claims them; left out where crashes of its process are not tracked. */
  worker?: string;
  /** It holds no other job and claims no further one. */
  isAlone?: boolean;
}

/**
 * Claims jobs that no worker holds. Each gets its own claim and the next attempt number. An attempt that another worker
 * neither ended nor released counts as one whose process crashed.
 */
export async function claimJobs(
  db: Knex,
  { which, leaseMs, limit, worker = NOBODY, isAlone = false }: JobClaim,
): Promise<JobRecord[]> {
  const isSuspect = which === 'suspects' || which === 'suspects-left';
  const rows = await claimDue<JobRow>(db, {
    table: 'jobs',
    key: 'job_id',
    leaseMs,
    limit,
    where: db.raw(CONDITIONS[which], { worker }),
    set: db.raw(SET, { worker, isAlone }),
    ...(isSuspect ? { orderBy: db.raw(MOST_SUSPECT, { worker }) } : {}),
  });
  return rows.map(toRecord);
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

const SURVIVED = '(jobs.attempt, jobs.claim) = (survived.attempt, survived.claim)';

/** Records that the process of these attempts still runs, although their leases were lost: they are no crashes. */
export async function retractDeaths(db: Knex, survived: readonly Fence[]): Promise<void> {
  await db.raw(
    `update jobs
        set deaths = array_remove(deaths, survived.attempt),
            strikes = array_remove(strikes, survived.attempt),
            held_by = case when ${SURVIVED} then null else held_by end
       from unnest(:ids::uuid[], :attempts::int[], :claims::uuid[]) as survived (job_id, attempt, claim)
      where jobs.job_id = survived.job_id
        and (survived.attempt = any(deaths) or ${SURVIVED} and held_by is not null)`,
    columnsOfFences(survived),
  );
}

/** A suspect has run alone for long enough: other jobs may run beside it. */
export async function endSuspicion(db: Knex, fence: Fence): Promise<void> {
  await fenced(db, fence).update({ deaths: '{}', held_alone: false });
}
