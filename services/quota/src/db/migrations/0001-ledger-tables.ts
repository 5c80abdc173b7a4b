import type { Migration } from '@vision/shared/db/migrate';

/**
 * `reservations` is the truth, `quota_days` the cached sum that a grant is decided by.
 *
 * A reservation is `open` (charges its units), `settled` (charges what was kept), `refunded` (charges nothing) or `closed`: its
 * settlement or refund came before it was ever made, so it never charges and knows no day.
 */
export const ledgerTables: Migration = {
  name: '0001-ledger-tables',
  up: async (db) => {
    await db.raw(`
      create table if not exists reservations (
        id text primary key check (length(id) <= 200),
        subject text not null,
        state text not null check (state in ('open', 'settled', 'refunded', 'closed')),
        idempotency_key uuid,
        kind text check (kind in ('video', 'image')),
        day date,
        units int check (units > 0),
        charged int not null check (charged >= 0),
        created_at timestamptz not null,
        closed_at timestamptz,
        constraint reservations_open_charges_all check (state <> 'open' or charged = units),
        constraint reservations_settled_within_units check (state <> 'settled' or charged <= units),
        constraint reservations_undone_charges_nothing check (state in ('open', 'settled') or charged = 0),
        constraint reservations_complete check (num_nulls(idempotency_key, kind, day, units) = case state when 'closed' then 4 else 0 end),
        constraint reservations_closing_time check ((state = 'open') = (closed_at is null))
      )`);
    await db.raw(
      `create index if not exists reservations_key on reservations (subject, idempotency_key) where kind is not null`,
    );
    await db.raw(
      `create index if not exists reservations_closed_at on reservations (closed_at) where closed_at is not null`,
    );
    // Room in every page: the counter is never in an index, so its updates stay inside the page and leave nothing to vacuum.
    await db.raw(`
      create table if not exists quota_days (
        subject text not null,
        kind text not null check (kind in ('video', 'image')),
        day date not null,
        used int not null check (used >= 0),
        folded int not null default 0 check (folded >= 0),
        primary key (subject, kind, day)
      ) with (fillfactor = 40)`);
    await db.raw(`comment on column quota_days.folded is 'part of used whose reservations were removed by age'`);
  },
  down: async (db) => {
    await db.raw('drop table if exists quota_days, reservations');
  },
};
