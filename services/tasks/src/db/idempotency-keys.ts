import type { Knex } from 'knex';
import type { Task } from '../domain/task.ts';
import { inFuture } from './instants.ts';
import { TASKS } from './task-row.ts';

const KEYS = 'idempotency_keys';

export interface KeyRow {
  subject: string;
  key: string;
  task_id: string;
  fingerprint: string;
  /** The task was accepted: the key names it until it expires. */
  done: boolean;
  owner: string;
  lease_until: Date;
  /** Abandoned: the lease of its request expired. */
  is_dead: boolean;
}

/** Right of one request to create the task of a key, while it renews its lease. */
export interface Claim {
  subject: string;
  key: string;
  taskId: string;
  owner: string;
}

export interface ClaimTerms {
  fingerprint: string;
  leaseMs: number;
}

/** The key as it is stored; locked until the end of the transaction with `for update`. */
export async function findKey(
  db: Knex,
  { subject, key }: Pick<Claim, 'subject' | 'key'>,
  lock: '' | 'for update' = '',
): Promise<KeyRow | undefined> {
  const { rows } = await db.raw<{ rows: KeyRow[] }>(
    `select *, not done and lease_until <= now() and (select may_take_over()) as is_dead
       from idempotency_keys where subject = :subject and key = :key ${lock}`,
    { subject, key },
  );
  return rows[0];
}

/** Claims a free key. False when another request holds it. */
export async function insertKey(db: Knex, claim: Claim, terms: ClaimTerms): Promise<boolean> {
  const inserted = await db(KEYS)
    .insert(claimColumns(db, claim, terms))
    .onConflict(['subject', 'key'])
    .ignore()
    .returning('key');
  return inserted.length === 1;
}

/** Transfers a key to another request; the caller must hold the row lock. */
export async function passKeyOn(tx: Knex.Transaction, claim: Claim, terms: ClaimTerms): Promise<void> {
  await tx(KEYS)
    .where({ subject: claim.subject, key: claim.key })
    .update(claimColumns(tx, claim, terms));
}

const claimColumns = (db: Knex, { subject, key, taskId, owner }: Claim, { fingerprint, leaseMs }: ClaimTerms) => ({
  subject,
  key,
  task_id: taskId,
  owner,
  fingerprint,
  lease_until: inFuture(db, leaseMs),
});

/**
 * Extends the leases of a create request: of its key, if it holds one already, and of its draft. False when another
 * process took it over.
 */
export async function renewCreate(
  db: Knex,
  { taskId, attempt, leaseMs }: { taskId: string; attempt: number; leaseMs: number },
): Promise<boolean> {
  const leaseUntil = inFuture(db, leaseMs);
  await db(KEYS).where({ task_id: taskId, done: false }).update({ lease_until: leaseUntil });
  const changed = await db(TASKS).where({ task_id: taskId, attempt }).update({ lease_until: leaseUntil });
  return changed === 1;
}

/** Makes the key name its task; false when the claim was lost. */
export async function finishKey(tx: Knex.Transaction, claim: Claim): Promise<boolean> {
  const changed = await tx(KEYS)
    .where({ subject: claim.subject, key: claim.key, owner: claim.owner, done: false })
    .update({ done: true });
  return changed === 1;
}

/** Frees the key of a task that was not created after all. */
export async function freeKey(db: Knex, taskId: string): Promise<void> {
  await db(KEYS).where({ task_id: taskId }).delete();
}

/**
 * Frees the key of an expired task. The task loses its unique request key but keeps its row: retention removes an ended
 * task with its video; a task that never ended holds its unit, and its job may run.
 */
export async function freeExpiredKey(tx: Knex.Transaction, taskId: string): Promise<void> {
  await tx(TASKS)
    .where({ task_id: taskId })
    .where('result_expires_at', '<=', tx.raw('vision_now()'))
    .update({ request_key: taskId });
  await freeKey(tx, taskId);
}

/** Removes a draft in `undoing` with its key, unless another process has taken it over meanwhile. */
export async function removeRolledBack(tx: Knex.Transaction, { taskId, attempt }: Task): Promise<void> {
  await freeKey(tx, taskId);
  await tx(TASKS).where({ task_id: taskId, status: 'undoing', attempt }).delete();
}

/** Removes keys without a draft: recovery rolled it back before its request claimed the key. */
export async function removeDeadKeys(db: Knex): Promise<number> {
  return db(KEYS)
    .where('done', false)
    .where('lease_until', '<', db.raw("now() - interval '1 minute'"))
    .whereNotExists(db(TASKS).select(db.raw('1')).whereRaw('tasks.task_id = idempotency_keys.task_id'))
    .delete();
}
