import type { Migration } from '@vision/shared/db/migrate';

/** `published_at`: when a rule was published last by the clock, which repeats it every day. */
export const ruleSnapshots: Migration = {
  name: '0009-rule-snapshots',
  up: async (db) => {
    await db.raw('alter table alarm_rules add column if not exists published_at timestamptz not null default now()');
    await db.raw(
      'create index if not exists alarm_rules_published on alarm_rules (published_at) where deleted_at is null',
    );
  },
  down: async (db) => {
    await db.raw('alter table alarm_rules drop column if exists published_at');
  },
};
