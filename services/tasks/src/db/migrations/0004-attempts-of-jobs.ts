import type { Migration } from '@vision/shared/db/migrate';

/** The attempt that the backend named for a job, and the attempt whose results are complete. */
export const attemptsOfJobs: Migration = {
  name: '0004-attempts-of-jobs',
  up: async (db) => {
    await db.raw('alter table tasks add column job_attempt integer, add column results_attempt integer');
  },
  down: async (db) => {
    await db.raw('alter table tasks drop column job_attempt, drop column results_attempt');
  },
};
