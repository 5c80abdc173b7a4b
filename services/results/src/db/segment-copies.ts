import type { Knex } from 'knex';
import { claimDue } from '@vision/shared/db/leases';

/** The body of a segment whose object was not yet read back. */
export interface SegmentCopy {
  objectKey: string;
  taskId: string;
  day: string;
  bytes: number;
  checksum: number;
  body: Buffer;
  attempt: number;
}

const TABLE = 'segment_copies';

/** Stores the bodies of segments that are indexed in this transaction. */
export async function keepCopies(tx: Knex.Transaction, copies: Omit<SegmentCopy, 'attempt'>[]): Promise<void> {
  await tx(TABLE).insert(
    copies.map(({ objectKey, taskId, day, bytes, checksum, body }) => ({
      object_key: objectKey,
      task_id: taskId,
      day,
      bytes,
      checksum,
      body,
    })),
  );
}

interface CopyRow extends Omit<SegmentCopy, 'objectKey' | 'taskId' | 'checksum'> {
  object_key: string;
  task_id: string;
  checksum: number | string;
}

/** Copies whose object is due to be read. They become due again after the lease unless they are dropped. */
export async function claimCopies(
  db: Knex,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<SegmentCopy[]> {
  const rows = await claimDue<CopyRow>(db, { table: TABLE, key: 'object_key', leaseMs, limit });
  return rows.map(({ object_key: objectKey, task_id: taskId, checksum, ...rest }) => ({
    ...rest,
    objectKey,
    taskId,
    checksum: Number(checksum),
  }));
}

/** Drops copies whose objects are intact. */
export async function dropCopies(db: Knex, objectKeys: string[]): Promise<void> {
  await db(TABLE).whereIn('object_key', objectKeys).delete();
}

/** Drops the copies of an expired day, before its objects are removed. */
export async function dropCopiesOfDay(db: Knex, day: string): Promise<void> {
  await db(TABLE).where({ day }).delete();
}

/** The stored body of an object that was not yet read back. */
export async function findCopy(db: Knex, objectKey: string): Promise<Buffer | undefined> {
  const row = await db(TABLE).where({ object_key: objectKey }).first<Pick<SegmentCopy, 'body'> | undefined>('body');
  return row?.body;
}

export async function hasCopy(db: Knex, objectKey: string): Promise<boolean> {
  return (await db(TABLE).where({ object_key: objectKey }).first('object_key')) !== undefined;
}

/** Age in seconds of the oldest copy; 0 when there is none. */
export async function oldestCopyAge(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ age: number }] }>(
    `select coalesce(extract(epoch from now() - min(stored_at)), 0)::float8 as age from segment_copies`,
  );
  return rows[0].age;
}
