import type { Migration } from '@vision/shared/db/migrate';

/**
 * `reservations` is the truth, `quota_days` the cached sum that a grant is decided by.
 *
 * A reservation is `open` (charges its units), `settled` (charges what was kept), `refunded` (charges nothing) or
 * `closed`: its settlement or refund came before it was ever made, so it has no units, never charges and knows no day.
 */
export const ledgerTables: Migration = {
  name: '0001-ledger-tables',
  up: async (db) => {
    // PostgreSQL reads the text of a check anew for every insert: one that spells out all states took a fifth of a
    // reserve. What is kept here is that no entry ever charges more than it took, or less than nothing.
    await db.raw(`
      create table if not exists reservations (
        id text primary key,
        subject text not null,
        state text not null,
        idempotency_key uuid,
        kind text,
        day date,
        units int not null,
        charged int not null,
        created_at timestamptz not null,
        closed_at timestamptz,
        constraint reservations_charged check (charged between 0 and units)
      )`);
    await db.raw(`create index if not exists reservations_key on reservations (idempotency_key)`);
    await db.raw(
      `create index if not exists reservations_closed_at on reservations (closed_at) where closed_at is not null`,
    );
    // Room in every page: the counter is never in an index, so its updates stay inside the page and leave
    // nothing to vacuum.
    await db.raw(`
      create table if not exists quota_days (
        subject text not null,
        kind text not null,
        day date not null,
        used int not null,
        folded int not null default 0,
        primary key (subject, kind, day),
        constraint quota_days_used check (used >= folded and folded >= 0 and kind in ('video', 'image'))
      ) with (fillfactor = 40)`);
    await db.raw(`comment on column quota_days.folded is 'part of used whose reservations were removed by age'`);
  },
  down: async (db) => {
    await db.raw('drop table if exists quota_days, reservations');
  },
};
