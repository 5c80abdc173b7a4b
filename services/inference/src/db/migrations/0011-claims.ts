import type { Migration } from '@vision/shared/db/migrate';

/**
 * `claim`: drawn with each claim. A failover that loses a claim lets the next one get the same attempt number; the
 * claim tells both holders apart.
 */
export const claims: Migration = {
  name: '0011-claims',
  up: async (db) => {
    await db.raw(`alter table jobs add column claim uuid not null default '00000000-0000-0000-0000-000000000000'`);
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column claim');
  },
};
