import type { Migration } from '@vision/shared/db/migrate';

/** When tasks is asked next whether it knows the task of these frames, while no end mark of them is in force. */
export const askAboutTasks: Migration = {
  name: '0007-ask-about-tasks',
  up: async (db) => {
    await db.raw(`
      alter table ingests
        add column if not exists created_at timestamptz not null default now(),
        add column if not exists ask_at timestamptz not null default now() + interval '1 minute'`);
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists ask_at, drop column if exists created_at');
  },
};

export const askAboutTasksIndex: Migration = {
  name: '0008-ask-about-tasks-index',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`
      create index concurrently if not exists ingests_asked on ingests (ask_at) where end_status is null`);
  },
  down: async (db) => {
    await db.raw('drop index if exists ingests_asked');
  },
};
