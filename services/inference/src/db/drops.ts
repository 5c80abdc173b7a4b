import type { Knex } from 'knex';

/** Frames that one attempt of a job read and could not publish, in all. */
export interface AttemptDrops {
  jobId: string;
  attempt: number;
  dropped: number;
}

/**
 * Stores the counts of attempts. Each attempt has its own entry in its job's row, so this needs no fence: a worker that
 * lost a job tells afterwards what it dropped, and nobody else's count changes.
 */
export async function saveDrops(db: Knex, drops: readonly AttemptDrops[]): Promise<void> {
  await db.raw(
    `update jobs set drops = jobs.drops || told.drops
       from (select job_id, jsonb_object_agg(attempt, dropped) as drops
               from unnest(:ids::uuid[], :attempts::int[], :counts::int[]) as each (job_id, attempt, dropped)
              group by job_id) as told
      where jobs.job_id = told.job_id`,
    {
      ids: drops.map(({ jobId }) => jobId),
      attempts: drops.map(({ attempt }) => attempt),
      counts: drops.map(({ dropped }) => dropped),
    },
  );
}
