import type { Knex } from 'knex';
import type { Migration } from '../db/migrate.ts';

/** A partition, its topic named as on the broker. */
export interface Partition {
  topic: string;
  partition: number;
}

/** A partition as one consumer group reads it, named as on the broker too. */
export interface Position extends Partition {
  consumer: string;
}

/** The records of one transaction: from where the consumer left off to the offset that it goes on with. */
export interface Span {
  from: bigint;
  next: bigint;
}

/** What the reader of a partition knows of its row. */
export interface KnownRow {
  /** It has moved the row since the group gave it the partition, so the row has to be there. */
  hasRow: boolean;
  /** A row ahead of the reader that was looked into: its records are handled again, or those of a new log. */
  accepted?: { row: bigint; how: 'repeated' | 'log_restarted' };
}

/** Rolls a transaction back: the row is not where the consumer left off. */
export class Displaced extends Error {
  /** The offset in the row; undefined when there is none although there was one. */
  readonly row: bigint | undefined;

  constructor(row: bigint | undefined) {
    super('the position is not where the consumer left off');
    this.name = 'Displaced';
    this.row = row;
  }
}

/**
 * Locks the row of a position, compares it with where the consumer left off, and moves it, in the transaction that
 * holds the effects of the records. Without a row the consumer goes on from the group's committed offset. The row is
 * never moved back, but for a log that began anew.
 * @throws Displaced when the row is elsewhere.
 */
export async function movePosition(
  tx: Knex.Transaction,
  position: Position,
  { from, next }: Span,
  known: KnownRow,
): Promise<void> {
  if ((await update(tx, position, next, from)) === 1) return;
  const row = await lockRow(tx, position);
  if (row === undefined) {
    if (known.hasRow) throw new Displaced(undefined);
    if (await insert(tx, position, next)) return;
    // Another replica made it between the two statements.
    throw new Displaced((await lockRow(tx, position)) ?? from);
  }
  if (row === known.accepted?.row) {
    if (known.accepted.how === 'log_restarted' || next > row) await update(tx, position, next, row);
    return;
  }
  throw new Displaced(row);
}

async function update(tx: Knex.Transaction, position: Position, next: bigint, from: bigint): Promise<number> {
  const result = await tx.raw<{ rowCount: number }>(
    `update consumer_positions set next_offset = :next, moved_at = now()
      where consumer = :consumer and topic = :topic and partition = :partition and next_offset = :from`,
    { ...position, next: String(next), from: String(from) },
  );
  return result.rowCount;
}

async function lockRow(tx: Knex.Transaction, position: Position): Promise<bigint | undefined> {
  const result = await tx.raw<{ rows: { next_offset: number | bigint }[] }>(
    `select next_offset from consumer_positions
      where consumer = :consumer and topic = :topic and partition = :partition for update`,
    { ...position },
  );
  const [row] = result.rows;
  return row && BigInt(row.next_offset);
}

async function insert(tx: Knex.Transaction, position: Position, next: bigint): Promise<boolean> {
  const result = await tx.raw<{ rowCount: number }>(
    `insert into consumer_positions (consumer, topic, partition, next_offset)
     values (:consumer, :topic, :partition, :next) on conflict do nothing`,
    { ...position, next: String(next) },
  );
  return result.rowCount === 1;
}

/** The rows of a consumer; the key is topic and partition. */
export async function readPositions(db: Knex, consumer: string): Promise<Map<string, bigint>> {
  const rows = await db('consumer_positions')
    .where({ consumer })
    .select<{ topic: string; partition: number; next_offset: number | bigint }[]>('topic', 'partition', 'next_offset');
  return new Map(rows.map((row) => [positionKey(row), BigInt(row.next_offset)]));
}

export const positionKey = ({ topic, partition }: Partition) => `${topic}/${partition}`;

/** The table; every service that consumes puts it into its list of migrations. */
export const positionsMigration: Migration = {
  name: 'shared-consumer-positions',
  up: async (db) => {
    // Room in every page, so that the many updates stay inside it and leave nothing to vacuum.
    await db.raw(`
      create table if not exists consumer_positions (
        consumer text not null,
        topic text not null,
        partition int not null,
        next_offset bigint not null,
        moved_at timestamptz not null default now(),
        primary key (consumer, topic, partition)
      ) with (fillfactor = 50)`);
  },
  down: async (db) => {
    await db.raw('drop table if exists consumer_positions');
  },
};
