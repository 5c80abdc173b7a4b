import type { Knex } from 'knex';
import { tasksOfReservations } from '@vision/contracts/reservation-id';
import { claimDue, renewLease } from '@vision/shared/db/leases';
import type { Claim, KeyHolder, KeyId } from '../domain/image-call.ts';

export interface NewKey extends KeyId {
  taskId: string;
  requestId: string;
  fingerprint: string;
  sceneCode: string;
  clientRef: string | null;
  imagesTotal: number;
  reservationId: string;
}

interface KeyRow {
  subject: string;
  key: string;
  task_id: string;
  request_id: string;
  fingerprint: string;
  scene_code: string;
  client_ref: string | null;
  images_total: number;
  reservation_id: string;
  state: 'working' | 'undoing' | 'done';
  attempt: number;
  created_at: Date;
}

const TABLE = 'idempotency_keys';

/** The call that holds a key; undefined for an expired key. */
export async function findKey(db: Knex, { subject, key }: KeyId): Promise<KeyHolder | undefined> {
  const { rows } = await db.raw<{ rows: KeyHolder[] }>(
    `select k.task_id as "taskId", k.fingerprint, k.state, k.deleted_at is not null as "isDeleted",
            k.state <> 'done' and k.lease_until <= now() and (select may_take_over()) as "isDead"
       from idempotency_keys k
      where k.subject = :subject and k.key = :key
        and (k.expires_at is null or k.expires_at > vision_now())`,
    { subject, key },
  );
  return rows[0];
}

/** Claims a free key and replaces an expired row of it; undefined when another call holds the key. */
export async function claimKey(db: Knex, newKey: NewKey, leaseMs: number): Promise<Claim | undefined> {
  const { rows } = await db.raw<{ rows: KeyRow[] }>(
    `insert into idempotency_keys as k
       (subject, key, task_id, request_id, fingerprint, scene_code, client_ref, images_total, reservation_id,
        state, attempt, lease_until, created_at)
     values (:subject, :key, :taskId, :requestId, :fingerprint, :sceneCode, :clientRef, :imagesTotal, :reservationId,
             'working', 1, now() + make_interval(secs => :leaseS), vision_now())
     on conflict on constraint idempotency_keys_pkey do update
       set task_id = excluded.task_id, request_id = excluded.request_id, fingerprint = excluded.fingerprint,
           scene_code = excluded.scene_code, client_ref = excluded.client_ref, images_total = excluded.images_total,
           reservation_id = excluded.reservation_id, state = 'working', attempt = 1,
           lease_until = excluded.lease_until, created_at = excluded.created_at, expires_at = null,
           deleted_at = null
       where k.expires_at <= vision_now()
     returning k.*`,
    { ...newKey, leaseS: leaseMs / 1000 },
  );
  return rows[0] && toClaim(rows[0]);
}

/** SQL condition, answered by an index: whether there is a call to take over. */
export const ANYTHING_DEAD = `exists (select from ${TABLE} where state <> 'done' and lease_until <= now())`;

/** Shortens leases taken while the clock of the database was ahead: they could not be taken over. */
export async function bringBackLeases(db: Knex, leaseMs: number): Promise<void> {
  const lease = db.raw('now() + make_interval(secs => ?)', [leaseMs / 1000]);
  await db(TABLE).whereNot({ state: 'done' }).where('lease_until', '>', lease).update({ lease_until: lease });
}

/** Takes over calls whose worker died: all whose lease has expired, or only the given one. */
export async function claimDead(
  db: Knex,
  { leaseMs, limit, taskId }: { leaseMs: number; limit: number; taskId?: string },
): Promise<Claim[]> {
  const unfinishedDue = `due.state <> 'done' and (select may_take_over())`;
  const where = taskId === undefined ? db.raw(unfinishedDue) : db.raw(`${unfinishedDue} and due.task_id = ?`, [taskId]);
  const rows = await claimDue<KeyRow>(db, { table: TABLE, key: 'task_id', leaseMs, limit, where });
  return rows.map(toClaim);
}

/** False when another process has taken the call over. */
export async function renewClaim(db: Knex, { taskId, attempt }: Claim, leaseMs: number): Promise<boolean> {
  return renewLease(db, { table: TABLE, key: 'task_id', leaseMs }, { id: taskId, attempt });
}

/** Locks the key of this call until the transaction ends; waits for earlier writers. */
export async function lockKey(tx: Knex.Transaction, { taskId }: Claim): Promise<void> {
  await tx(TABLE).where({ task_id: taskId }).forUpdate().select('task_id');
}

/** Marks a call for rollback; false when its result is stored or the claim is no longer ours. */
export async function markUndoing(db: Knex, claim: Claim): Promise<boolean> {
  const changed = await unfinished(db, claim).update({ state: 'undoing' });
  return changed === 1;
}

/** Frees the key of a rolled back call; false when its result is stored or the claim is no longer ours. */
export async function releaseKey(db: Knex, claim: Claim): Promise<boolean> {
  const removed = await unfinished(db, claim).delete();
  return removed === 1;
}

/** Units of other unfinished calls of this subject; some of them may be refunded. */
export async function countUndecidedUnits(
  db: Knex,
  { subject, except }: { subject: string; except?: string | undefined },
): Promise<number> {
  const query = db(TABLE).where({ subject }).whereNot('state', 'done');
  if (except !== undefined) query.whereNot({ task_id: except });
  const row = await query.sum<{ units: string | null }>({ units: 'images_total' }).first();
  return Number(row?.units ?? 0);
}

/** Those of the given task ids whose calls are in progress or being rolled back. */
export async function findUnfinished(db: Knex, taskIds: string[]): Promise<string[]> {
  const rows = await db(TABLE)
    .whereNot('state', 'done')
    .whereIn('task_id', taskIds)
    .select<{ task_id: string }[]>('task_id');
  return rows.map((row) => row.task_id);
}

function unfinished(db: Knex, { taskId, attempt }: Claim) {
  return db(TABLE).where({ task_id: taskId, attempt }).whereNot('state', 'done');
}

function toClaim(row: KeyRow): Claim {
  return {
    subject: row.subject,
    key: row.key,
    taskId: row.task_id,
    requestId: row.request_id,
    sceneCode: row.scene_code,
    clientRef: row.client_ref,
    imagesTotal: row.images_total,
    reservationId: row.reservation_id,
    attempt: row.attempt,
    createdAt: row.created_at,
  };
}

/** Those of the given reservations that an unfinished call holds. */
export async function findHeld(db: Knex, reservationIds: string[]): Promise<string[]> {
  if (reservationIds.length === 0) return [];
  return db('idempotency_keys')
    .whereIn('task_id', tasksOfReservations(reservationIds))
    .whereIn('reservation_id', reservationIds)
    .whereNot({ state: 'done' })
    .pluck<string[]>('reservation_id');
}
