import type { Knex } from 'knex';
import type { Fence } from './held-jobs.ts';

/** Frames that one holder of a job read and could not publish, in all. */
export interface HolderDrops extends Fence {
  dropped: number;
}

/**
 * Stores the counts of holders. Each claim has its own entry in its job's row, so this needs no fence: a worker that
 * lost a job tells afterwards what it dropped, and no other count changes.
 */
export async function saveDrops(db: Knex, drops: readonly HolderDrops[]): Promise<void> {
  await db.raw(
    `update jobs set drops = jobs.drops || told.drops
       from (select job_id, jsonb_object_agg(claim, dropped) as drops
               from unnest(:ids::uuid[], :claims::uuid[], :counts::int[]) as each (job_id, claim, dropped)
              group by job_id) as told
      where jobs.job_id = told.job_id`,
    {
      ids: drops.map(({ jobId }) => jobId),
      claims: drops.map(({ claim }) => claim),
      counts: drops.map(({ dropped }) => dropped),
    },
  );
}
