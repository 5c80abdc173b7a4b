import type { Knex } from 'knex';
import { claimDue } from '@vision/shared/db/leases';
import type { JobRecord } from '../domain/job.ts';
import { columnsOfFences, fenced } from './held-jobs.ts';
import type { Fence } from './held-jobs.ts';
import { IS_ASIDE, IS_GIVEN_UP, IS_RESTING, toRecord } from './jobs.ts';
import type { JobRow } from './jobs.ts';

/** Jobs that must end: stopped by their callers, given up, or with a stored ending that is not published yet. */
const ENDING = `(status = 'stopping' or status in ('queued', 'running') and (ending is not null or ${IS_GIVEN_UP}))`;
/** Jobs that wait for a place. */
const UNDECIDED = `status in ('queued', 'running') and ending is null and not ${IS_RESTING}`;

/** Another worker held the job until its lease ended and did not release it. */
const DIED = `(held_by is not null and held_by <> :worker and claimed_at > now() - interval '1 hour')`;
/** An attempt of an hour says that the job is not what ends its processes. */
const LASTED = `(held_by is not null and claimed_at <= now() - interval '1 hour')`;
/** One process may end for many reasons; two that held the same job make it a suspect. */
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
  // A worker without space for one more file takes none, however long it has waited.
  streams: `(${WAITING} and source_kind = 'stream')`,
  'streams-left': `(${WAITING} and source_kind = 'stream' and ${LEFT})`,
  // It has given its slot back, so it comes after those that were accepted.
  parked: `(${UNDECIDED} and not ${IS_SUSPECT} and ${IS_ASIDE})`,
  suspects: `(${UNDECIDED} and ${IS_SUSPECT})`,
  'suspects-left': `(${UNDECIDED} and ${IS_SUSPECT} and due.lease_until < now() - interval '60 seconds' and not ${IS_ASIDE})`,
} as const;
export type Claimable = keyof typeof CONDITIONS;

const SET = `, claim = gen_random_uuid(), held_by = :worker, held_alone = :isAlone, claimed_at = now(), parked_until = null,
  parked_attempt = case when parked_attempt = attempt then attempt + 1 end,
  deaths = case when ${LASTED} then '{}' when ${DIED} then deaths || attempt else deaths end,
  strikes = case when ${LASTED} then '{}' when ${DIED} and held_alone then strikes || attempt else strikes end`;
/** The job that outlived most processes first; the newest of them, as it came before the trouble. */
const MOST_SUSPECT = `cardinality(due.deaths) + (${DIED})::int desc, due.created_at desc`;

export interface JobClaim {
  which: Claimable;
  leaseMs: number;
  limit: number;
  /** The worker that takes them; left out where no code asks how its process ends. */
  worker?: string;
  /** It holds no other job and takes none beside this one. */
  isAlone?: boolean;
}

/**
 * Takes jobs that no worker holds. Each comes with a claim of its own and the next attempt number. An attempt that
 * another worker neither ended nor released is counted as one that ended with its process.
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

/** Tells that the process of some attempts goes on, although it lost their leases: they are no deaths. */
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

/** A suspect has run by itself for long enough: others may run beside it. */
export async function endSuspicion(db: Knex, fence: Fence): Promise<void> {
  await fenced(db, fence).update({ deaths: '{}', held_alone: false });
}
