import type { Migration } from '@vision/shared/db/migrate';

/**
 * The form in which frames are written while the settings leave it open: one row, which says `rows` as long as replicas
 * of a release that reads nothing else may run.
 *
 * Such a release has served this database when its last migration was applied by an earlier run than the first one of
 * segments. The history of migrations says so however empty the tables are. Where segments are, that is over.
 */
export const frameForm: Migration = {
  name: '0011-frame-form',
  up: async (db) => {
    await db.raw(`
      create table if not exists frame_form (
        is_only_row boolean primary key default true check (is_only_row),
        form text not null check (form in ('rows', 'segments')),
        changed_at timestamptz not null default now()
      )`);
    await db.raw(`
      insert into frame_form (form)
      select case when earlier.batch < own.batch and not exists (select from segments) then 'rows' else 'segments' end
        from schema_migrations earlier, schema_migrations own
       where earlier.name = '0008-ask-about-tasks-index' and own.name = '0009-segments'
      on conflict do nothing`);
  },
  down: async (db) => {
    await db.raw('drop table if exists frame_form');
  },
};
