import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `drops`: frames that were read and could not be published, by attempt: `{"2": 14}`.
 * - `ending`: how the job ends, stored before the end mark is published, so that any worker can publish it.
 */
export const endings: Migration = {
  name: '0003-endings',
  up: async (db) => {
    await db.raw(`alter table jobs add column drops jsonb not null default '{}', add column ending jsonb`);
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column drops, drop column ending');
  },
};
