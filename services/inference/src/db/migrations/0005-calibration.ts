import type { Migration } from '@vision/shared/db/migrate';

/** What the scores of a job mean, as the registry said when it was submitted; null: scores as the model gives them. */
export const calibration: Migration = {
  name: '0005-calibration',
  up: async (db) => {
    await db.raw('alter table jobs add column calibration jsonb');
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column calibration');
  },
};
