import type { Migration } from '@vision/shared/db/migrate';

/**
 * Settles (p_state settled, keeping p_units) or refunds (refunded, 0). Outcomes: done (now or before, by the caller
 * that came first), differs (another subject's id, or more units than were reserved). What comes back goes to the day
 * it was taken from.
 */
export const closeReservationFunction: Migration = {
  name: '0004-close-reservation',
  up: async (db) => {
    await db.raw(`
      create or replace function close_reservation(
        in p_id text, in p_subject text, in p_state text, in p_units int, out outcome text, out charged int)
      language plpgsql as $$
      declare
        known reservations%rowtype;
      begin
        loop
          update reservations r set state = p_state, charged = p_units, closed_at = quota_now()
            where r.id = p_id and r.subject = p_subject and r.state = 'open' and r.units >= p_units
            returning * into known;
          if found then
            if known.units > p_units then
              update quota_days q set used = q.used - (known.units - p_units)
                where q.subject = known.subject and q.kind = known.kind and q.day = known.day;
            end if;
            outcome := 'done';
            charged := p_units;
            return;
          end if;
          insert into reservations as r (id, subject, state, units, charged, created_at, closed_at)
            values (p_id, p_subject, 'closed', 0, 0, quota_now(), quota_now()) on conflict (id) do nothing;
          if found then
            outcome := 'done';
            charged := 0;
            return;
          end if;
          select * into known from reservations r where r.id = p_id;
          -- Made between the two statements above: close it in the next round.
          continue when not found or (known.subject = p_subject and known.state = 'open' and known.units >= p_units);
          outcome := case when known.subject = p_subject and known.state <> 'open' then 'done' else 'differs' end;
          charged := known.charged;
          return;
        end loop;
      end $$`);
  },
  down: async (db) => {
    await db.raw('drop function if exists close_reservation');
  },
};
