import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import { asUnavailable } from '@vision/shared/unavailable';
import type { ConsumerSignals } from './consumer-signals.ts';
import type { KafkaClient } from './kafka.ts';
import { compareEpochs } from './leader-epoch.ts';
import type { Epochs, LostLog } from './leader-epoch.ts';
import { boundsOfLog } from './log-end.ts';
import { persist, stopping } from './persist.ts';
import type { PersistOptions } from './persist.ts';
import { passTo, sendTo } from './partition-cursors.ts';
import type { PartitionCursor, PartitionCursors } from './partition-cursors.ts';
import { Displaced, movePosition } from './positions.ts';
import type { Partition, Position, Span } from './positions.ts';

/**
 * Runs the work in one transaction that also moves the position of the consumer; once for each delivery. Work before or
 * after the transaction stands around the call. A handler without effects need not call it.
 */
export type EffectTransaction = <T>(work: (tx: Knex.Transaction) => Promise<T>) => Promise<T>;

/** Handles records. `isReread`: some were handled before, and the database has lost their effects. */
export type Work = (transaction: EffectTransaction, attempt: number, isReread: boolean) => Promise<void>;

/** Controls the library; offsets are the next ones to read. */
export interface ConsumerControl {
  seek: (topic: string, partition: number, offset: bigint) => void;
  /** @throws KafkaJSError also when this process is no longer a member of the group. */
  commit: (topic: string, partition: number, offset: bigint) => Promise<void>;
  /** Commits it soon, with those of other partitions; losing it costs repeats. */
  commitSoon: (topic: string, partition: number, offset: bigint) => void;
}

export interface ProgressDeps {
  db: Knex;
  kafka: KafkaClient;
  groupId: string;
  cursors: PartitionCursors;
  /** A partition without a row is read from its earliest record. */
  rebuilds?: boolean;
  control: ConsumerControl;
  signals: ConsumerSignals;
}

export interface Records extends Partition {
  /** Offset behind the last of them. */
  next: bigint;
  epochs?: Epochs | undefined;
}

/**
 * `passed`: the effects are committed, and the position with them. `sought`: the consumer had to seek; the rest of this
 * partition's batch is to be dropped.
 */
export type Passing = 'passed' | 'sought' | { failure: unknown };

/**
 * Handles records in one transaction with the position of the consumer, which is the row in the service's own database:
 * after a failover that lost commits the row is behind, and the records are read again from there. The offset that the
 * group commits is a courtesy for tools and for groups that have no row yet.
 */
export async function passRecords(
  deps: ProgressDeps,
  records: Records,
  work: Work,
  retries: PersistOptions,
): Promise<Passing> {
  const cursor = deps.cursors.at(records);
  if (cursor.isStale) return 'sought';
  cursor.isBusy = true;
  try {
    return await passBusily(deps, records, work, retries);
  } finally {
    cursor.isBusy = false;
  }
}

async function passBusily(deps: ProgressDeps, records: Records, work: Work, retries: PersistOptions): Promise<Passing> {
  const cursor = deps.cursors.at(records);
  if (cursor.search === undefined && inspectHole(deps, records, cursor) === 'sought') return 'sought';
  for (;;) {
    const span = { from: cursor.leftOff, next: records.next, epochs: records.epochs };
    const isReread = cursor.rereadUpTo !== undefined && cursor.leftOff < cursor.rereadUpTo;
    let displaced: Displaced | undefined;
    const failed = await persist(async (attempt) => {
      displaced = await inPlace(deps, records, span, (transaction) => work(transaction, attempt, isReread));
    }, retries);
    if (failed) return failed;
    if (!displaced) break;
    if (retries.signal.aborted) throw stopping();
    if ((await inspectRow(deps, records, span, displaced)) === 'sought') return 'sought';
  }
  passTo(cursor, records.next);
  deps.control.commitSoon(records.topic, records.partition, records.next);
  return 'passed';
}

/** Does the work once; returns the reason of the rollback when the row had another position. */
async function inPlace(
  deps: ProgressDeps,
  records: Records,
  span: Span,
  work: (transaction: EffectTransaction) => Promise<void>,
): Promise<Displaced | undefined> {
  const known = deps.cursors.at(records);
  const move = (tx: Knex.Transaction) => movePosition(tx, positionOf(deps, records), span, known);
  try {
    await inOneTransaction(deps, (tx) => move(tx).catch(asNoFaultOfTheEvent), work);
    return undefined;
  } catch (error) {
    if (error instanceof Displaced) return error;
    throw error;
  }
}

/** Work that begins no transaction moves its position all the same. */
export async function inOneTransaction(
  { db }: ProgressDeps,
  move: (tx: Knex.Transaction) => Promise<void>,
  work: (transaction: EffectTransaction) => Promise<void>,
): Promise<void> {
  const state = { begun: false };
  const transaction: EffectTransaction = (effects) => {
    if (state.begun) throw new Error('one delivery has one transaction');
    state.begun = true;
    return inTransaction(db, async (tx) => {
      await move(tx);
      return effects(tx);
    });
  };
  await work(transaction);
  if (!state.begun) await transaction(() => Promise.resolve());
}

// Waits for a position that cannot be moved (its table does not exist yet): it must not make an event a dead letter.
function asNoFaultOfTheEvent(error: unknown): never {
  if (error instanceof Displaced || asUnavailable(error)) throw error;
  throw fail.sysUnavailable('position_unavailable', error);
}

/** Offsets are missing before these records: they are fetched once more, then skipped with an alarm. */
function inspectHole(deps: ProgressDeps, records: Records, cursor: PartitionCursor): 'sought' | 'known' {
  const { holeUpTo, leftOff: from } = cursor;
  if (holeUpTo === undefined) return 'known';
  const facts = { ...positionOf(deps, records), from: String(from), to: String(holeUpTo) };
  if (cursor.soughtTo === from) {
    deps.signals.gap('removed');
    deps.kafka.logger.error(facts, 'records were removed before they were handled');
    return 'known';
  }
  deps.kafka.logger.warn(facts, 'records missing; fetching them again');
  return send(deps, cursor, from);
}

async function inspectRow(
  deps: ProgressDeps,
  records: Records,
  { from, epochs }: Span,
  { row, epoch: rowEpoch }: Displaced,
): Promise<'sought' | 'accepted'> {
  const { topic, partition } = records;
  const cursor = deps.cursors.at(records);
  if (row === undefined || row < from) {
    const beginning = row ?? (await beginningOf(deps, cursor));
    return beginning === from ? beginsAnew(cursor) : rewind(deps, cursor, row, beginning);
  }
  const facts = { ...positionOf(deps, records), from: String(from), row: String(row) };
  // Only a member of the group continues: one that lost the partition fails here and rejoins.
  await deps.control.commit(topic, partition, from);
  const { low, end } = await boundsOfLog(deps.kafka, topic, partition);
  if (row > end) {
    deps.signals.gap('log_restarted');
    deps.kafka.logger.error(
      { ...facts, end: String(end) },
      'the topic ends below the stored position: Kafka has lost its records',
    );
    cursor.accepted = { row, how: 'log_restarted' };
    return 'accepted';
  }
  if (cursor.trusted !== row) {
    const isBlank = cursor.holeUpTo !== undefined && cursor.holeUpTo >= row;
    const { goTo, search } = compareEpochs({ row, rowEpoch, from, epochs, isBlank, low }, cursor.search);
    if (search?.found && !cursor.search?.found) tellLostLog(deps, search.found, facts);
    if (search) cursor.search = search;
    if (goTo !== undefined) return send(deps, cursor, goTo);
    if (search) cursor.trusted = row;
  }
  if (row > from) deps.kafka.logger.info(facts, 'records are handled again');
  cursor.accepted = { row, how: cursor.search?.found ? 'log_restarted' : 'repeated' };
  return 'accepted';
}

function tellLostLog({ kafka, signals }: ProgressDeps, found: LostLog, facts: object): void {
  signals.gap(found);
  const lost = 'the broker has lost records below the position; what stands there now is handled';
  const anew = 'the topic was made anew and has grown past the position; all of it is handled';
  kafka.logger.error(facts, found === 'truncated' ? lost : anew);
}

/** Start offset of a partition whose row is missing. */
export async function beginningOf({ kafka, rebuilds }: ProgressDeps, cursor: PartitionCursor): Promise<bigint> {
  return rebuilds ? (await boundsOfLog(kafka, cursor.topic, cursor.partition)).low : cursor.beganAt;
}

/** Accepts a partition without a row and without records to read again. */
export function beginsAnew(cursor: PartitionCursor): 'accepted' {
  cursor.hasRow = false;
  return 'accepted';
}

/** The row is behind, or gone: its database lost commits. The member goes back to where the row is, or to `goTo`. */
export function rewind(deps: ProgressDeps, cursor: PartitionCursor, row: bigint | undefined, goTo: bigint): 'sought' {
  deps.signals.rewound();
  deps.kafka.logger.error(
    { ...positionOf(deps, cursor), from: String(cursor.leftOff), row: row === undefined ? null : String(row) },
    'the database has lost commits; their records are read again',
  );
  cursor.hasRow = row !== undefined;
  // A second loss on the way back may begin further ahead than the first one ends.
  if (cursor.rereadUpTo === undefined || cursor.rereadUpTo < cursor.leftOff) cursor.rereadUpTo = cursor.leftOff;
  return send(deps, cursor, goTo);
}

function send({ control }: ProgressDeps, cursor: PartitionCursor, offset: bigint): 'sought' {
  control.seek(cursor.topic, cursor.partition, offset);
  sendTo(cursor, offset);
  return 'sought';
}

const positionOf = ({ kafka, groupId }: ProgressDeps, { topic, partition }: Partition): Position => ({
  consumer: kafka.nameOf(groupId),
  topic,
  partition,
});
