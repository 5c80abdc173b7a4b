import type { Migration } from '@vision/shared/db/migrate';

/**
 * `held_by`: worker of the current attempt, null once it released the job. `held_alone`: it took no other job beside
 * it. `claimed_at`: when the attempt began. `deaths`: attempts that ended with their process; `strikes`: those of them
 * that were held alone.
 */
export const suspects: Migration = {
  name: '0010-suspects',
  up: async (db) => {
    await db.raw(`
      alter table jobs
        add column held_by uuid,
        add column held_alone boolean not null default false,
        add column claimed_at timestamptz,
        add column deaths integer[] not null default '{}',
        add column strikes integer[] not null default '{}'`);
  },
  down: async (db) => {
    await db.raw(`
      alter table jobs drop column held_by, drop column held_alone, drop column claimed_at, drop column deaths,
                       drop column strikes`);
  },
};
