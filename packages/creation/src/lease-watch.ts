import type { Knex } from 'knex';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { anyDue, wakeFound } from '@vision/shared/db/due-work';
import type { DueWork } from '@vision/shared/db/due-work';
import type { Migration } from '@vision/shared/db/migrate';

/**
 * Protects live holders of leases in an outage of their database: no lease can be renewed then, so an expired lease
 * does not prove a dead holder. Every process that takes leases over writes a heartbeat to `lease_watch`. A gap in the
 * heartbeats was an outage for all; after it no lease is taken over for one lease period, in which holders renew. A
 * process that is cut off alone leaves no gap, because the others continue.
 *
 * SQL that takes a lease over contains `lease_until <= now() and (select may_take_over())`.
 */
export const leaseWatchMigration: Migration = {
  name: 'shared-lease-watch',
  up: async (db) => {
    await db.raw(`
      create table if not exists lease_watch (
        only_row boolean primary key default true check (only_row),
        seen_at timestamptz not null,
        valid_until timestamptz not null,
        take_over_from timestamptz not null
      )`);
    await db.raw(`
      insert into lease_watch (seen_at, valid_until, take_over_from) values (now(), now(), now()) on conflict do nothing`);
    await db.raw(`
      create or replace function may_take_over() returns boolean language sql stable as $$
        select exists (select from lease_watch where now() between take_over_from and valid_until)
      $$`);
  },
  down: async (db) => {
    await db.raw('drop function if exists may_take_over()');
    await db.raw('drop table if exists lease_watch');
  },
};

export interface LeaseWatchOptions {
  db: Knex;
  logger: Logger;
  /** How long leases last that are renewed every third of it. */
  leaseMs: number;
  /** True in SQL while there is something to take over; an index has to answer it. */
  dead: string;
  /** Asked for in the same statement. */
  dueWork: DueWork[];
  /**
   * Brings back what lies further ahead than any lease can: the clock was ahead when it was written. Called after each
   * gap, because a clock that was stepped back leaves one.
   */
  afterGap?: () => Promise<void>;
}

export interface LeaseWatch extends Poller {
  /** Whether there was something to take over at the last sign. */
  sawDead: () => boolean;
}

/**
 * Writes the heartbeats of this process; the same statement asks whether there is a lease to take over, or other work
 * without a wake-up. Without heartbeats no process takes a lease over.
 */
export function createLeaseWatch(options: LeaseWatchOptions): LeaseWatch {
  const { db, logger, leaseMs, dead, dueWork, afterGap } = options;
  // Two signs within the longest gap that does not count: one that is late is no outage.
  const intervalMs = Math.min(leaseMs / 6, LONGEST_PAUSE_MS);
  let sawDead = false;
  let isAfterGap = false;
  const poller = createPoller({
    name: 'lease-watch',
    intervalMs,
    maxBackoffMs: intervalMs,
    logger,
    run: async () => {
      const { isGap, isDead, found } = await leaveSign(db, { leaseMs, dead, dueWork });
      if (isGap)
        logger.info({ lease_ms: leaseMs }, 'suspending takeovers for one lease period after a gap in all heartbeats');
      isAfterGap ||= isGap;
      sawDead = isDead;
      wakeFound(dueWork, found);
      // A failure is tried again with the next sign.
      if (isAfterGap) await afterGap?.();
      isAfterGap = false;
      return 0;
    },
  });
  return { ...poller, sawDead: () => sawDead };
}

/** However long leases are, other work does not wait for longer. */
const LONGEST_PAUSE_MS = 2_000;

interface Seen {
  /** There was a gap in the signs. */
  isGap: boolean;
  /** There is something to take over. */
  isDead: boolean;
  /** Of each kind of due work. */
  found: boolean[];
}

/**
 * Gaps below a third of a lease do not count: a holder renews at least once between such an outage and the end of its
 * lease.
 */
export async function leaveSign(
  db: Knex,
  { leaseMs, dead, dueWork }: Pick<LeaseWatchOptions, 'leaseMs' | 'dead' | 'dueWork'>,
): Promise<Seen> {
  // The clock is read while the row is locked: another process may have left its sign a moment ago.
  const { rows } = await db.raw<{ rows: [Seen] }>(
    `update lease_watch
        set take_over_from = case when clock_timestamp() between seen_at and seen_at + make_interval(secs => :gapS)
                                  then take_over_from else clock_timestamp() + make_interval(secs => :leaseS) end,
            seen_at = clock_timestamp(),
            valid_until = clock_timestamp() + make_interval(secs => :gapS)
      returning take_over_from > statement_timestamp() + make_interval(secs => :leaseS) as "isGap",
                (${dead}) as "isDead", ${anyDue(dueWork)} as found`,
    { leaseS: leaseMs / 1000, gapS: leaseMs / 3000 },
  );
  return rows[0];
}
