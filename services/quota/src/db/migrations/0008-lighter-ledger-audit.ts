import type { Migration } from '@vision/shared/db/migrate';

/**
 * One entry of `ledger_changes` for a reserve instead of two, and none for a settlement that keeps every unit.
 *
 * `reserve_units` and `close_reservation` change a counter only together with one of its reservations, whose trigger
 * notes it. They say so with the setting `quota.move`; any other writer of a counter is noted by the trigger of the
 * counters. The list loses its index: the audit takes entries out by their place in the table. Its column `id` stays
 * for replicas of the release before, which find no entries.
 */
export const lighterLedgerAudit: Migration = {
  name: '0008-lighter-ledger-audit',
  up: async (db) => {
    await db.raw(`alter table ledger_changes alter column id drop identity if exists`);
    await db.raw(`alter table ledger_changes drop constraint if exists ledger_changes_pkey`);
    await db.raw(`alter table ledger_changes alter column id drop not null`);
    await db.raw(
      `alter table ledger_changes set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
    );
    for (const name of MOVES) await db.raw(`alter function ${name} set quota.move = 'on'`);
    await db.raw(`
      create or replace trigger quota_days_changed after insert or update or delete on quota_days
        for each row when (current_setting('quota.move', true) is distinct from 'on')
        execute function note_ledger_change()`);
    await db.raw(`
      create or replace trigger reservations_changed after insert or delete
        on reservations for each row execute function note_ledger_change()`);
    await db.raw(`
      create or replace trigger reservations_recharged after update of charged, subject, kind, day
        on reservations for each row
        when ((old.charged, old.subject, old.kind, old.day) is distinct from (new.charged, new.subject, new.kind, new.day))
        execute function note_ledger_change()`);
  },
  down: async (db) => {
    await db.raw('drop trigger if exists reservations_recharged on reservations');
    for (const name of MOVES) await db.raw(`alter function ${name} reset quota.move`);
    await db.raw(`
      create or replace trigger quota_days_changed after insert or update or delete on quota_days
        for each row execute function note_ledger_change()`);
    await db.raw(`
      create or replace trigger reservations_changed after insert or delete or update of charged, subject, kind, day
        on reservations for each row execute function note_ledger_change()`);
    await db.raw('truncate ledger_changes');
    await db.raw('alter table ledger_changes alter column id set not null');
    await db.raw('alter table ledger_changes alter column id add generated always as identity');
    await db.raw('alter table ledger_changes add primary key (id)');
  },
};

const MOVES = ['reserve_units', 'close_reservation'];
