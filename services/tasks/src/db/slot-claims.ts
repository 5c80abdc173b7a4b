import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import type { VideoKind } from '../domain/task.ts';
import { submittedStatuses } from '../domain/task.ts';
import { inFuture } from './instants.ts';

/** A create request that asks for a slot. */
export interface SlotClaim {
  taskId: string;
  subject: string;
  kind: VideoKind;
  weight: number;
}

/** Slots of one kind: free ones, and how many of them are kept for subjects without a slot. */
export interface FreeSlots {
  kind: VideoKind;
  free: number;
  kept: number;
}

interface Round {
  /** Requests that wait in this process; their rows stay. */
  waiting: readonly SlotClaim[];
  slots: readonly FreeSlots[];
  /** When the capacity was queried, by the clock of the database: it includes jobs that were sent before. */
  askedAt: string;
  /** Lifetime of a row that its process does not renew, whether it waits or holds a slot. */
  aliveMs: number;
}

/**
 * Grants free slots to create requests of all replicas, one round after the other. First comes the subject that would
 * have the smallest share with one more slot: its running tasks and granted slots, divided by its weight. So a subject
 * with many tasks or requests waits behind one with few.
 *
 * @returns the task ids of `waiting` that have a slot now
 */
export async function grantSlots(db: Knex, { waiting, slots, askedAt, aliveMs }: Round): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    await tx.raw(`select pg_advisory_xact_lock(hashtextextended('place-claims', 2))`);
    await tx('place_claims').where('expires_at', '<', tx.fn.now()).delete();
    await stay(tx, waiting, aliveMs);
    await tx.raw(GRANT, {
      submitted: [...submittedStatuses],
      kinds: slots.map(({ kind }) => kind),
      free: slots.map(({ free }) => free),
      kept: slots.map(({ kept }) => kept),
      askedAt,
      aliveS: aliveMs / 1000,
    });
    const rows = await tx('place_claims')
      .whereIn(
        'task_id',
        waiting.map(({ taskId }) => taskId),
      )
      .whereNotNull('granted_at')
      .select<{ task_id: string }[]>('task_id');
    return rows.map(({ task_id: taskId }) => taskId);
  });
}

async function stay(tx: Knex, waiting: readonly SlotClaim[], aliveMs: number): Promise<void> {
  const rows = waiting.map(({ taskId, subject, kind, weight }) => ({
    task_id: taskId,
    subject,
    kind,
    weight,
    expires_at: inFuture(tx, aliveMs),
  }));
  // Another replica may have granted it, an earlier release for a longer time.
  const kept = tx.raw('greatest(place_claims.expires_at, excluded.expires_at)');
  await tx('place_claims').insert(rows).onConflict('task_id').merge({ expires_at: kept });
}

/** Extends the claims of create requests in progress that hold slots. */
export async function renewSlots(db: Knex, taskIds: string[], aliveMs: number): Promise<void> {
  await db('place_claims')
    .whereIn('task_id', taskIds)
    .whereNull('sent_at')
    .update({ expires_at: db.raw('greatest(expires_at, ?)', [inFuture(db, aliveMs)]) });
}

// The share of a subject counts by kind: a stream holds its slot for days, a file for minutes. A claim that the kept
// slots exclude leaves the queue before positions are counted: at the front with a small share, it would block those
// slots.
const GRANT = `
  with granted as (
    select kind, subject, count(*) as places from place_claims
     where granted_at is not null and (sent_at is null or sent_at > :askedAt::timestamptz)
     group by kind, subject
  ), asking as (
    select claim.task_id, claim.kind, claim.asked_at, claim.weight,
           coalesce(granted.places, 0) + running.places as has,
           row_number() over (partition by claim.kind, claim.subject order by claim.asked_at, claim.task_id) as turn
      from place_claims as claim
      left join granted using (kind, subject)
     cross join lateral (
       select count(*) as places from tasks
        where tasks.subject = claim.subject and tasks.kind = claim.kind and tasks.status = any(:submitted)
     ) as running
     where claim.granted_at is null
  ), room as (
    select kind, kept, free - (select coalesce(sum(places), 0) from granted where granted.kind = told.kind) as free
      from unnest(:kinds::text[], :free::int[], :kept::int[]) as told (kind, free, kept)
  ), in_line as (
    select *, row_number() over (partition by kind order by (has + turn)::float8 / weight, asked_at, task_id) as place
      from asking
  ), eligible as (
    select task_id, free, row_number() over (partition by kind order by place) as position
      from in_line join room using (kind)
     where has + turn = 1 or place <= free - kept
  )
  update place_claims
     set granted_at = now(), expires_at = now() + make_interval(secs => :aliveS)
    from eligible
   where place_claims.task_id = eligible.task_id and eligible.position <= eligible.free`;

/** The clock of the claims, in full precision. */
export async function claimClock(db: Knex): Promise<string> {
  const { rows } = await db.raw<{ rows: [{ now: string }] }>('select clock_timestamp()::text as now');
  return rows[0].now;
}

/** Ends the wait of a create request; true when it was granted a slot meanwhile. */
export async function stopWaiting(db: Knex, taskId: string): Promise<boolean> {
  const removed = await db('place_claims').where({ task_id: taskId }).whereNull('granted_at').delete();
  if (removed > 0) return false;
  const row = await db('place_claims').where({ task_id: taskId }).first<{ task_id: string } | undefined>('task_id');
  return row !== undefined;
}

/** Frees the slot of a create request without a job. */
export async function releaseSlot(db: Knex, taskId: string): Promise<void> {
  await db('place_claims').where({ task_id: taskId }).delete();
}

/** Lets the claim expire after this time: from its next answer on, the backend counts the job itself. */
export async function expireSlot(db: Knex, taskId: string, afterMs: number): Promise<void> {
  await db('place_claims')
    .where({ task_id: taskId })
    .update({ sent_at: db.raw('clock_timestamp()'), expires_at: inFuture(db, afterMs) });
}
