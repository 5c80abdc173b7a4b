import type { Migration } from '@vision/shared/db/migrate';

/**
 * The ledger's two moves as functions, so that each is one statement and one round trip: no row lock is ever held while
 * a client is waited for, and a lost connection leaves either everything or nothing. Both write the ledger row first and
 * the counter last: the counter of a busy subject is what others wait for, so its lock is held for the shortest time.
 * Locks are taken in the same order everywhere (key, ledger row, counter), so they cannot deadlock.
 */
export const ledgerFunctions: Migration = {
  name: '0002-ledger-functions',
  up: async (db) => {
    await db.raw(CLOCK);
    await db.raw(RESERVE);
    await db.raw(CLOSE);
  },
  down: async (db) => {
    await db.raw('drop function if exists reserve_units, close_reservation, quota_today, quota_now');
  },
};

/** The database clock decides, so replicas with wrong clocks agree. `quota.clock_offset` is there for tests; nothing else sets it. */
const CLOCK = `
  create function quota_now() returns timestamptz language sql stable as $$
    select now() + coalesce(nullif(current_setting('quota.clock_offset', true), ''), '0')::interval
  $$;
  create function quota_today() returns date language sql stable as $$
    select (quota_now() at time zone 'Asia/Shanghai')::date
  $$`;

/**
 * Outcomes: granted, exhausted, conflict, closed, differs (this id is known with other facts).
 *
 * The lock on the idempotency key makes two first uses of it for different kinds take turns. The look at the counter before
 * anything is written keeps refusals free of writes; only the conditional update decides a grant, because READ COMMITTED
 * checks its condition again on the newest version of the row.
 */
const RESERVE = `
  create function reserve_units(
    in p_id text, in p_subject text, in p_key uuid, in p_kind text, in p_units int, in p_limit int,
    out outcome text, out day date, out used int)
  language plpgsql as $$
  declare
    known reservations%rowtype;
    clashes boolean;
  begin
    day := quota_today();
    perform pg_advisory_xact_lock(hashtextextended(p_subject || ' ' || p_key, 0));
    select exists (select from reservations r
                    where r.idempotency_key = p_key and r.subject = p_subject and r.kind <> p_kind
                      and r.state in ('open', 'settled')),
           coalesce((select q.used from quota_days q
                      where q.subject = p_subject and q.kind = p_kind and q.day = reserve_units.day), 0)
      into clashes, used;
    if (clashes or used + p_units > p_limit) and not exists (select from reservations r where r.id = p_id) then
      outcome := case when clashes then 'conflict' else 'exhausted' end;
      return;
    end if;
    insert into reservations (id, subject, state, idempotency_key, kind, day, units, charged, created_at)
      values (p_id, p_subject, 'open', p_key, p_kind, reserve_units.day, p_units, p_units, quota_now())
      on conflict (id) do nothing;
    if not found then
      select * into known from reservations r where r.id = p_id;
      outcome := case
        when known.subject = p_subject and known.state = 'closed' then 'closed'
        when (known.subject, known.idempotency_key, known.kind, known.units)
          is distinct from (p_subject, p_key, p_kind, p_units) then 'differs'
        when known.state = 'open' then 'granted'
        else 'closed' end;
      return;
    end if;
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

/**
 * Settles (p_state settled, keeping p_units) or refunds (refunded, 0). Outcomes: done (now or before, by whoever came
 * first), differs (another subject's id, or more units than were reserved). What comes back goes to the day it was taken from.
 */
const CLOSE = `
  create function close_reservation(
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
      insert into reservations as r (id, subject, state, charged, created_at, closed_at)
        values (p_id, p_subject, 'closed', 0, quota_now(), quota_now()) on conflict (id) do nothing;
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
  end $$`;
