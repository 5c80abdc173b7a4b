import type { Migration } from '@vision/shared/db/migrate';

/**
 * What the audit of the counters needs.
 *
 * - `ledger_changes`: counters that changed, or whose reservations changed, by any writer; the audit takes them
 *   out. Not logged, which halves its cost: after a crash it is empty, but a crash never separates a counter from its
 *   reservations, which commit together.
 * - `reservations.ask_at`: when an open reservation is compared with what it is held for.
 * - `counter_repairs`: who set which counter right, and why.
 */
export const ledgerAudit: Migration = {
  name: '0006-ledger-audit',
  up: async (db) => {
    await db.raw(`
      create unlogged table if not exists ledger_changes (
        id bigint generated always as identity primary key,
        subject text not null,
        kind text not null,
        day date not null
      )`);
    await db.raw(`
      create or replace function note_ledger_change() returns trigger language plpgsql as $$
      begin
        if tg_op <> 'DELETE' and new.kind is not null then
          insert into ledger_changes (subject, kind, day) values (new.subject, new.kind, new.day);
        end if;
        if tg_op = 'DELETE' and old.kind is not null then
          insert into ledger_changes (subject, kind, day) values (old.subject, old.kind, old.day);
        end if;
        return null;
      end $$`);
    await db.raw(`
      create or replace trigger quota_days_changed after insert or update or delete on quota_days
        for each row execute function note_ledger_change()`);
    await db.raw(`
      create or replace trigger reservations_changed after insert or delete or update of charged, subject, kind, day
        on reservations for each row execute function note_ledger_change()`);
    await db.raw(`alter table reservations add column if not exists ask_at timestamptz
      default now() + interval '1 minute'`);
    await db.raw(`
      create table if not exists counter_repairs (
        id bigint generated always as identity primary key,
        at timestamptz not null default now(),
        subject text not null,
        kind text not null,
        day date not null,
        used_before int not null,
        used_after int not null,
        who text not null,
        reason text not null
      )`);
  },
  down: async (db) => {
    await db.raw('drop trigger if exists reservations_changed on reservations');
    await db.raw('drop trigger if exists quota_days_changed on quota_days');
    await db.raw('drop function if exists note_ledger_change');
    await db.raw('drop table if exists ledger_changes, counter_repairs');
    await db.raw('alter table reservations drop column if exists ask_at');
  },
};

/** The reservations of one counter, and the open ones by when they are asked about. */
export const ledgerAuditIndexes: Migration = {
  name: '0007-ledger-audit-indexes',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`create index concurrently if not exists reservations_counter
      on reservations (subject, kind, day) where kind is not null`);
    await db.raw(`create index concurrently if not exists reservations_ask
      on reservations (kind, ask_at) where state = 'open'`);
  },
  down: async (db) => {
    await db.raw('drop index if exists reservations_counter, reservations_ask');
  },
};
