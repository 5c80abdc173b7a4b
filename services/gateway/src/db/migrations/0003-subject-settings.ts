import type { Migration } from '@vision/shared/db/migrate';

/** What subjects set for themselves; without a row the defaults apply. */
export const subjectSettings: Migration = {
  name: '0003-subject-settings',
  up: async (db) => {
    await db.raw(`
      create table subject_settings (
        subject text primary key,
        snapshots text,
        updated_at timestamptz not null default now()
      );
      create index subject_settings_updated on subject_settings (updated_at);
    `);
  },
  down: async (db) => {
    await db.raw('drop table subject_settings');
  },
};
