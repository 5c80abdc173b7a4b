import type { Migration } from '@vision/shared/db/migrate';

/**
 * One entry of `ledger_changes` for a reserve instead of two, and none for a settlement that keeps every unit.
 *
 * `reserve_units` and `close_reservation` change a counter only together with one of its reservations, whose trigger
 * notes it. Statements that call them say so with the setting `quota.move` (`db/ledger.ts`); any other writer of a
 * counter is noted by the trigger of the counters.
 */
export const lighterLedgerAudit: Migration = {
  name: '0008-lighter-ledger-audit',
  up: async (db) => {
    // In the order of a reserve, so that neither waits for the other.
    await db.raw('lock table reservations, quota_days in share row exclusive mode');
    await db.raw(`
      create or replace function note_ledger_change() returns trigger language plpgsql as $$
      begin
        if tg_op <> 'DELETE' and new.kind is not null then
          insert into ledger_changes (subject, kind, day) values (new.subject, new.kind, new.day);
        end if;
        if tg_op = 'DELETE' and old.kind is not null then
          insert into ledger_changes (subject, kind, day) values (old.subject, old.kind, old.day);
        end if;
        if tg_op = 'UPDATE' and old.kind is not null
          and (old.subject, old.kind, old.day) is distinct from (new.subject, new.kind, new.day) then
          insert into ledger_changes (subject, kind, day) values (old.subject, old.kind, old.day);
        end if;
        return null;
      end $$`);
    await db.raw(`
      create or replace trigger reservations_changed after insert or delete
        on reservations for each row execute function note_ledger_change()`);
    // A settlement that gives units back is noted even when someone had changed what the reservation charges.
    await db.raw(`
      create or replace trigger reservations_recharged after update of charged, subject, kind, day
        on reservations for each row
        when ((old.charged, old.subject, old.kind, old.day) is distinct from (new.charged, new.subject, new.kind, new.day)
          or (old.state <> new.state and new.charged <> new.units))
        execute function note_ledger_change()`);
    await db.raw(`
      create or replace trigger quota_days_changed after insert or update or delete on quota_days
        for each row when (current_setting('quota.move', true) is distinct from 'on')
        execute function note_ledger_change()`);
  },
  down: async (db) => {
    await db.raw('lock table reservations, quota_days in share row exclusive mode');
    await db.raw('drop trigger if exists reservations_recharged on reservations');
    await db.raw(`
      create or replace trigger reservations_changed after insert or delete or update of charged, subject, kind, day
        on reservations for each row execute function note_ledger_change()`);
    await db.raw(`
      create or replace trigger quota_days_changed after insert or update or delete on quota_days
        for each row execute function note_ledger_change()`);
  },
};
