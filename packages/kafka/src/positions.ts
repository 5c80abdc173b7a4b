import type { Knex } from 'knex';
import type { Migration } from '@vision/shared/db/migrate';
import type { Epochs } from './leader-epoch.ts';

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
  epochs?: Epochs | undefined;
}

/** What the reader of a partition knows of its row. */
export interface KnownRow {
  /** It has moved the row since the group gave it the partition, or there has to be one for another reason. */
  hasRow: boolean;
  /** A row ahead of the reader that was looked into: its records are handled again, or those of a new log. */
  accepted?: { row: bigint; how: 'repeated' | 'log_restarted' };
}

/** Rolls a transaction back: the row is not where the consumer left off. */
export class Displaced extends Error {
  /** The offset in the row; undefined when there is none although there was one. */
  readonly row: bigint | undefined;
  /** The leader epoch of the record before it, if it is known. */
  readonly epoch: number | undefined;

  constructor(row: bigint | undefined, epoch?: number) {
    super('the position is not where the consumer left off');
    this.name = 'Displaced';
    this.row = row;
    this.epoch = epoch;
  }
}

/**
 * Locks the row of a position, compares it with where the consumer left off, and moves it, in the transaction that
 * holds the effects of the records. Without a row the consumer goes on from the group's committed offset. The row is
 * never moved back, but for a log that began anew.
 * @throws Displaced when the row is elsewhere, or is there and another leader wrote the records behind it.
 */
export async function movePosition(
  tx: Knex.Transaction,
  position: Position,
  span: Span,
  known: KnownRow,
): Promise<void> {
  if (await update(tx, position, span, SAME_LEADER)) return;
  const found = await lockRow(tx, position);
  if (found === undefined) {
    if (known.hasRow) throw new Displaced(undefined);
    if (await insert(tx, position, span)) return;
    // Another replica made it between the two statements.
    throw (await lockRow(tx, position)) ?? new Displaced(span.from);
  }
  const { accepted } = known;
  if (accepted === undefined || found.row !== accepted.row) throw found;
  if (accepted.how === 'log_restarted' || span.next > accepted.row)
    await update(tx, position, { ...span, from: accepted.row });
}

/** A release that knows no epochs moves the offset alone, so an epoch counts for its own offset only. */
const SAME_LEADER = `and (epoch_offset is distinct from :from or leader_epoch = coalesce(:first, leader_epoch))`;

async function update(tx: Knex.Transaction, position: Position, span: Span, condition = ''): Promise<boolean> {
  const result = await tx.raw<{ rowCount: number }>(
    `update consumer_positions
        set next_offset = :next, moved_at = now(), leader_epoch = :last, epoch_offset = :epochOffset
      where consumer = :consumer and topic = :topic and partition = :partition and next_offset = :from ${condition}`,
    { ...position, ...columnsOf(span) },
  );
  return result.rowCount === 1;
}

/**
 * Moves the positions of several partitions of one consumer, each from where the consumer left off. Rows are locked in
 * one order, so that two members that hold the same partitions for a moment wait for each other.
 * @returns false when one of them is elsewhere or has no row; the transaction must not be committed then
 */
export async function movePositions(
  tx: Knex.Transaction,
  consumer: string,
  spans: readonly (Partition & Span)[],
): Promise<boolean> {
  const rows = spans.map(({ topic, partition, ...span }) => ({ topic, partition, ...columnsOf(span) }));
  const result = await tx.raw<{ rowCount: number }>(
    `with moved as materialized (
       select * from json_to_recordset(:rows::json)
         as r (topic text, partition int, "from" bigint, next bigint, first int, last int, "epochOffset" bigint)),
     held as materialized (
       select partition from consumer_positions
        where consumer = :consumer and (topic, partition) in (select topic, partition from moved)
        order by topic, partition for update)
     update consumer_positions as p
        set next_offset = m.next, moved_at = now(), leader_epoch = m.last, epoch_offset = m."epochOffset"
       from moved as m
      where p.consumer = :consumer and p.topic = m.topic and p.partition = m.partition
        and exists (select from held where held.partition = m.partition)
        and p.next_offset = m."from"
        and (p.epoch_offset is distinct from m."from" or p.leader_epoch = coalesce(m.first, p.leader_epoch))`,
    { consumer, rows: JSON.stringify(rows) },
  );
  return result.rowCount === spans.length;
}

async function lockRow(tx: Knex.Transaction, position: Position): Promise<Displaced | undefined> {
  const result = await tx.raw<{ rows: { next_offset: number | bigint; epoch: number | null }[] }>(
    `select next_offset, case when epoch_offset = next_offset then leader_epoch end as epoch from consumer_positions
      where consumer = :consumer and topic = :topic and partition = :partition for update`,
    { ...position },
  );
  const [row] = result.rows;
  return row && new Displaced(BigInt(row.next_offset), row.epoch ?? undefined);
}

async function insert(tx: Knex.Transaction, position: Position, span: Span): Promise<boolean> {
  const result = await tx.raw<{ rowCount: number }>(
    `insert into consumer_positions (consumer, topic, partition, next_offset, leader_epoch, epoch_offset)
     values (:consumer, :topic, :partition, :next, :last, :epochOffset) on conflict do nothing`,
    { ...position, ...columnsOf(span) },
  );
  return result.rowCount === 1;
}

/** Stores where partitions begin that have no row. */
export async function insertBeginnings(
  db: Knex,
  consumer: string,
  begun: readonly (Partition & { next: bigint })[],
): Promise<void> {
  await db.raw(
    `insert into consumer_positions (consumer, topic, partition, next_offset)
     select :consumer, topic, partition, next
       from unnest(:topics::text[], :partitions::int[], :offsets::bigint[]) as begun (topic, partition, next)
     on conflict do nothing`,
    {
      consumer,
      topics: begun.map(({ topic }) => topic),
      partitions: begun.map(({ partition }) => partition),
      offsets: begun.map(({ next }) => String(next)),
    },
  );
}

const columnsOf = ({ from, next, epochs }: Span) => ({
  from: String(from),
  next: String(next),
  first: epochs?.first ?? null,
  last: epochs?.last ?? null,
  epochOffset: epochs === undefined ? null : String(next),
});

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

/**
 * `leader_epoch`: of the record before the position, as its broker said; `epoch_offset`: the position that it belongs
 * to, because a release that knows no epochs moves `next_offset` alone.
 */
export const positionEpochsMigration: Migration = {
  name: 'shared-consumer-position-epochs',
  up: async (db) => {
    await db.raw(`
      alter table consumer_positions
        add column if not exists leader_epoch int, add column if not exists epoch_offset bigint`);
  },
  down: async (db) => {
    await db.raw(
      'alter table consumer_positions drop column if exists leader_epoch, drop column if exists epoch_offset',
    );
  },
};
