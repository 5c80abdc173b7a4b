import type { Migration } from '@vision/shared/db/migrate';

/**
 * Takes units, all or none. The ledger's moves are functions, so that each is one statement and one round trip: no
 * row lock is ever held while a client is waited for, and a lost connection leaves either everything or nothing.
 * They write the ledger row first and the counter last: the counter of a busy subject is what others wait for, so
 * its lock is held for the shortest time. Locks are taken in the same order everywhere (key, ledger row, counter),
 * so they cannot deadlock.
 *
 * Outcomes: granted, exhausted, conflict, closed, differs (this id is known with other facts).
 *
 * The lock on the idempotency key makes two first uses of it for different kinds take turns. What stands against a
 * grant is looked for in the statement that writes the ledger row, so refusals write nothing and a grant is two
 * statements; but only the conditional update decides it, because READ COMMITTED checks its condition again on the
 * newest version of the row.
 */
export const reserveUnitsFunction: Migration = {
  name: '0003-reserve-units',
  up: async (db) => {
    await db.raw(RESERVE_UNITS);
  },
  down: async (db) => {
    await db.raw('drop function if exists reserve_units');
  },
};

const RESERVE_UNITS = `
create or replace function reserve_units(
  in p_id text, in p_subject text, in p_key uuid, in p_kind text, in p_units int, in p_limit int,
  out outcome text, out day date, out used int)
language plpgsql as $$
declare
  known reservations%rowtype;
  moment timestamptz := quota_now();
begin
  day := (moment at time zone 'Asia/Shanghai')::date;
  perform pg_advisory_xact_lock(hashtextextended(p_subject || ' ' || p_key, 0));
  loop
    insert into reservations (id, subject, state, idempotency_key, kind, day, units, charged, created_at)
      select p_id, p_subject, 'open', p_key, p_kind, reserve_units.day, p_units, p_units, moment
       where not exists (select from reservations r
                          where r.idempotency_key = p_key and r.subject = p_subject and r.kind <> p_kind
                            and r.state in ('open', 'settled'))
         and coalesce((select q.used from quota_days q
                        where q.subject = p_subject and q.kind = p_kind and q.day = reserve_units.day), 0) + p_units <= p_limit
      on conflict (id) do nothing;
    exit when found;
    select * into known from reservations r where r.id = p_id;
    if found then
      outcome := case
        when known.subject = p_subject and known.state = 'closed' then 'closed'
        when (known.subject, known.idempotency_key, known.kind, known.units)
          is distinct from (p_subject, p_key, p_kind, p_units) then 'differs'
        when known.state = 'open' then 'granted'
        else 'closed' end;
      return;
    end if;
    if exists (select from reservations r
                where r.idempotency_key = p_key and r.subject = p_subject and r.kind <> p_kind
                  and r.state in ('open', 'settled')) then
      outcome := 'conflict';
      return;
    end if;
    select q.used into used from quota_days q where q.subject = p_subject and q.kind = p_kind and q.day = reserve_units.day;
    used := coalesce(used, 0);
    if used + p_units > p_limit then
      outcome := 'exhausted';
      return;
    end if;
    -- What stood against it is gone since: look again.
  end loop;
  update quota_days q set used = q.used + p_units
    where q.subject = p_subject and q.kind = p_kind and q.day = reserve_units.day and q.used + p_units <= p_limit
    returning q.used into used;
  if not found and p_units <= p_limit then
    insert into quota_days as q (subject, kind, day, used) values (p_subject, p_kind, reserve_units.day, p_units)
      on conflict on constraint quota_days_pkey do update set used = q.used + p_units where q.used + p_units <= p_limit
      returning q.used into used;
  end if;
  if found and used is not null then
    outcome := 'granted';
    return;
  end if;
  delete from reservations r where r.id = p_id;
  outcome := 'exhausted';
  select q.used into used from quota_days q where q.subject = p_subject and q.kind = p_kind and q.day = reserve_units.day;
  used := coalesce(used, 0);
end $$`;
