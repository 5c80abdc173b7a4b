import type { Knex } from 'knex';
import { claimDue, renewLease } from '@vision/shared/db/leases';

/** A call that is being worked on or done, under its key. */
export interface KeyRow {
  subject: string;
  key: string;
  task_id: string;
  request_id: string;
  fingerprint: string;
  scene_code: string;
  images_total: number;
  reservation_id: string;
  state: 'working' | 'undoing' | 'done';
  attempt: number;
  created_at: Date;
}

/** Right to write the outcome of a call: valid while nobody has raised the attempt. */
export type Claim = KeyRow;

export interface NewKey {
  subject: string;
  key: string;
  taskId: string;
  requestId: string;
  fingerprint: string;
  sceneCode: string;
  imagesTotal: number;
  reservationId: string;
}

/** What may differ from the plain database clock: tests look at days that have not come. */
export interface Clock {
  /** An interval of PostgreSQL, `0 seconds` in use. */
  offset: string;
}

const TABLE = 'idempotency_keys';

/** The row of a key; keys past their time are as if they had never been. `isDead`: its worker has let the lease run out. */
export async function findKey(
  db: Knex,
  clock: Clock,
  { subject, key }: Pick<KeyRow, 'subject' | 'key'>,
): Promise<(KeyRow & { isDead: boolean }) | undefined> {
  const { rows } = await db.raw<{ rows: (KeyRow & { isDead: boolean })[] }>(
    `select k.*, k.state <> 'done' and k.lease_until <= now() as "isDead"
       from idempotency_keys k
      where k.subject = :subject and k.key = :key
        and (k.expires_at is null or k.expires_at > now() + :offset::interval)`,
    { subject, key, offset: clock.offset },
  );
  return rows[0];
}

/** Takes a key that nobody holds; undefined when somebody does. An expired row under it makes room. */
export async function claimKey(
  db: Knex,
  clock: Clock,
  { input, leaseMs }: { input: NewKey; leaseMs: number },
): Promise<Claim | undefined> {
  const { rows } = await db.raw<{ rows: Claim[] }>(
    `insert into idempotency_keys as k
       (subject, key, task_id, request_id, fingerprint, scene_code, images_total, reservation_id,
        state, attempt, lease_until, created_at)
     values (:subject, :key, :taskId, :requestId, :fingerprint, :sceneCode, :imagesTotal, :reservationId,
             'working', 1, now() + make_interval(secs => :leaseS), now() + :offset::interval)
     on conflict on constraint idempotency_keys_pkey do update
       set task_id = excluded.task_id, request_id = excluded.request_id, fingerprint = excluded.fingerprint,
           scene_code = excluded.scene_code, images_total = excluded.images_total,
           reservation_id = excluded.reservation_id, state = 'working', attempt = 1,
           lease_until = excluded.lease_until, created_at = excluded.created_at, expires_at = null
       where k.expires_at <= now() + :offset::interval
     returning k.*`,
    { ...input, leaseS: leaseMs / 1000, offset: clock.offset },
  );
  return rows[0];
}

/** Takes over calls whose worker died: all due ones, or the one named. */
export async function claimDead(
  db: Knex,
  { leaseMs, limit, taskId }: { leaseMs: number; limit: number; taskId?: string },
): Promise<Claim[]> {
  const where =
    taskId === undefined ? db.raw(`due.state <> 'done'`) : db.raw(`due.state <> 'done' and due.task_id = ?`, [taskId]);
  return claimDue<Claim>(db, { table: TABLE, key: 'task_id', leaseMs, limit, where });
}

/** False when somebody else has taken the call over. */
export async function renewClaim(db: Knex, claim: Claim, leaseMs: number): Promise<boolean> {
  return renewLease(db, { table: TABLE, key: 'task_id', leaseMs }, { id: claim.task_id, attempt: claim.attempt });
}

/** Ends the work on a key with a result that lives for `retentionDays`; undefined when the claim is no longer ours. */
export async function markDone(
  tx: Knex.Transaction,
  clock: Clock,
  { claim, retentionDays }: { claim: Claim; retentionDays: number },
): Promise<{ updatedAt: Date; expiresAt: Date } | undefined> {
  const { rows } = await tx.raw<{ rows: { updatedAt: Date; expiresAt: Date }[] }>(
    `update idempotency_keys
        set state = 'done', expires_at = created_at + make_interval(days => :days)
      where task_id = :taskId and attempt = :attempt and state = 'working'
      returning now() + :offset::interval as "updatedAt", expires_at as "expiresAt"`,
    { taskId: claim.task_id, attempt: claim.attempt, days: retentionDays, offset: clock.offset },
  );
  return rows[0];
}

/** Decides that a call did not happen; false when its result is stored or the claim is no longer ours. */
export async function markUndoing(db: Knex, claim: Claim): Promise<boolean> {
  const changed = await db(TABLE)
    .where({ task_id: claim.task_id, attempt: claim.attempt })
    .whereNot('state', 'done')
    .update({ state: 'undoing' });
  return changed === 1;
}

/** Frees a key whose call did not happen; false when the claim is no longer ours. */
export async function releaseKey(db: Knex, claim: Claim): Promise<boolean> {
  const removed = await db(TABLE)
    .where({ task_id: claim.task_id, attempt: claim.attempt })
    .whereNot('state', 'done')
    .delete();
  return removed === 1;
}

/** Those of the tasks that are being worked on or undone. */
export async function findUnfinished(db: Knex, taskIds: string[]): Promise<string[]> {
  const rows = await db(TABLE)
    .whereNot('state', 'done')
    .whereIn('task_id', taskIds)
    .select<{ task_id: string }[]>('task_id');
  return rows.map((row) => row.task_id);
}
