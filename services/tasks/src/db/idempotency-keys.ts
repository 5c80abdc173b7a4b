import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { leaseUntil } from './tasks.ts';
import { TASKS } from './task-row.ts';

const KEYS = 'idempotency_keys';

export interface KeyRow {
  subject: string;
  key: string;
  task_id: string;
  fingerprint: string;
  /** The task was accepted: the key names it for as long as it is kept. */
  done: boolean;
  owner: string;
  lease_until: Date;
}

/** Right of one request to create the task of a key, for as long as it renews its lease. */
export interface Claim {
  subject: string;
  key: string;
  taskId: string;
  owner: string;
}

export async function findKey(db: Knex, subject: string, key: string): Promise<KeyRow | undefined> {
  return db<KeyRow>(KEYS).where({ subject, key }).first();
}

/**
 * Takes the key, or gives the row of whoever has it. A key whose holder let its lease run out is taken over, and the holder's
 * draft is given up in the same step, so that it cannot go on should it wake up.
 */
export async function claimKey(
  db: Knex,
  claim: Claim,
  { fingerprint, leaseMs }: { fingerprint: string; leaseMs: number },
): Promise<'claimed' | KeyRow> {
  const claimed = { subject: claim.subject, key: claim.key, task_id: claim.taskId, fingerprint, owner: claim.owner };
  const row = { ...claimed, lease_until: leaseUntil(db, leaseMs) };
  const inserted = await db(KEYS).insert(row).onConflict(['subject', 'key']).ignore().returning('key');
  if (inserted.length === 1) return 'claimed';
  // Looked at without a lock: many may wait for one key.
  const seen = await readKey(db, claim);
  if (seen && !seen.is_dead) return seen;
  return inTransaction(db, async (tx) => {
    const held = await readKey(tx, claim, 'for update');
    // Freed between two statements: the caller's next try inserts.
    if (!held) return { ...claimed, done: false, lease_until: new Date(0) };
    if (!held.is_dead) return held;
    await tx(TASKS)
      .where({ task_id: held.task_id })
      .whereIn('status', ['draft', 'admitted'])
      .update({
        status: 'undoing',
        version: tx.raw('version + 1'),
        attempt: tx.raw('attempt + 1'),
        lease_until: tx.fn.now(),
      });
    await tx(KEYS).where({ subject: claim.subject, key: claim.key }).update(row);
    return 'claimed';
  });
}

async function readKey(
  db: Knex,
  { subject, key }: Claim,
  lock: '' | 'for update' = '',
): Promise<(KeyRow & { is_dead: boolean }) | undefined> {
  const { rows } = await db.raw<{ rows: (KeyRow & { is_dead: boolean })[] }>(
    `select *, not done and lease_until <= now() as is_dead
       from idempotency_keys where subject = :subject and key = :key ${lock}`,
    { subject, key },
  );
  return rows[0];
}

/** Extends the leases of a create: of its key, if it has one by now, and of its draft. False when somebody took it over. */
export async function renewCreate(
  db: Knex,
  { taskId, attempt, leaseMs }: { taskId: string; attempt: number; leaseMs: number },
): Promise<boolean> {
  const until = leaseUntil(db, leaseMs);
  await db(KEYS).where({ task_id: taskId, done: false }).update({ lease_until: until });
  const changed = await db(TASKS).where({ task_id: taskId, attempt }).update({ lease_until: until });
  return changed === 1;
}

/** The key names its task from now on; false when the claim was lost. */
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

/** Removes keys whose request died before it had even a draft. */
export async function removeDeadKeys(db: Knex): Promise<number> {
  return db(KEYS)
    .where('done', false)
    .where('lease_until', '<', db.raw("now() - interval '1 minute'"))
    .whereNotExists(db(TASKS).select(db.raw('1')).whereRaw('tasks.task_id = idempotency_keys.task_id'))
    .delete();
}
