import type { Migration } from '@vision/shared/db/migrate';

/** The model whose scores the calibration of the job belongs to; null: submitted to an earlier release. */
export const model: Migration = {
  name: '0014-model',
  up: async (db) => {
    await db.raw('alter table jobs add column model text');
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column model');
  },
};
