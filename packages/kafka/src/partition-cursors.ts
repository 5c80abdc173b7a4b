import type { Search } from './leader-epoch.ts';
import { positionKey } from './positions.ts';
import type { KnownRow, Partition } from './positions.ts';

/** Progress of a group member in one partition since its assignment. */
export interface PartitionCursor extends KnownRow, Partition {
  /** First offset of this assignment. */
  beganAt: bigint;
  /** Next offset: after the last record whose effects are committed. */
  leftOff: bigint;
  /** Offsets before this one held no record of ours (ends of transactions), beyond `leftOff`. */
  emptyUpTo: bigint;
  /** Offset of the last seek, until a record is handled. */
  soughtTo?: bigint;
  /** Search backwards for the part of the log that was read. */
  search?: Search;
  /** A row below which the log has been compared. */
  trusted?: bigint;
  /** Records before it were handled once, and the database lost their effects: they are read again. */
  rereadUpTo?: bigint;
  /** First offset of the batch at hand when offsets before it are missing. */
  holeUpTo?: bigint;
  /** Its records are being handled: no other code moves it meanwhile. */
  isBusy: boolean;
  /** A seek happened during a batch, so the rest of that batch is ignored. */
  isStale: boolean;
}

/** The partitions of each topic that a member was given. */
export type Assignment = Record<string, number[]>;

/** Facts of the library about a batch. `firstOffset` is null when the batch is empty. */
export interface BatchFacts extends Partition {
  batchSize: number;
  firstOffset: string | null;
  lastOffset: string;
}

export interface PartitionCursors {
  /** A batch begins: before its records are handled. */
  batchBegins: (batch: BatchFacts) => void;
  batchEnds: (batch: BatchFacts) => void;
  at: (partition: Partition) => PartitionCursor;
  /** Undefined when the group took the partition away meanwhile. */
  find: (partition: Partition) => PartitionCursor | undefined;
  /** The group reassigned its partitions: earlier cursors are discarded. */
  assigned: (assignment: Assignment) => void;
  all: () => Map<string, PartitionCursor>;
  /** Partitions whose beginning is not known yet. */
  unknown: () => Partition[];
  /** Sets the committed offset of a partition, if any; used only until records are read from it. */
  learn: (partition: Partition, committed: bigint) => void;
}

/**
 * The cursors of one group member. `expectsRows`: a partition without a row counts as one whose row was lost, until the
 * opposite is known.
 */
export function createPartitionCursors({ expectsRows = false }: { expectsRows?: boolean } = {}): PartitionCursors {
  const newCursor = (partition: Partition, first: bigint) => cursorAt(partition, first, expectsRows);
  const cursors = new Map<string, PartitionCursor>();
  let unknown: Partition[] = [];
  return {
    batchBegins: (batch) => {
      if (batch.firstOffset === null) return;
      const first = BigInt(batch.firstOffset);
      const cursor = cursors.get(positionKey(batch));
      if (!cursor || first < cursor.leftOff) cursors.set(positionKey(batch), newCursor(batch, first));
      else if (first > seenUpTo(cursor)) cursor.holeUpTo = first;
      else delete cursor.holeUpTo;
      if (cursor) cursor.isStale = false;
    },
    batchEnds: (batch) => {
      const cursor = cursors.get(positionKey(batch));
      if (!cursor || batch.batchSize > 0 || batch.firstOffset === null) return;
      if (BigInt(batch.firstOffset) <= seenUpTo(cursor)) cursor.emptyUpTo = BigInt(batch.lastOffset) + 1n;
    },
    at: (partition) => {
      const cursor = cursors.get(positionKey(partition));
      if (!cursor) throw new Error('records came without the batch they are in');
      return cursor;
    },
    find: (partition) => cursors.get(positionKey(partition)),
    assigned: (assignment) => {
      unknown = Object.entries(assignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      );
      cursors.clear();
    },
    all: () => new Map(cursors),
    unknown: () => unknown,
    learn: (partition, committed) => {
      const key = positionKey(partition);
      // The group may have given it to another member meanwhile.
      if (!unknown.some((one) => positionKey(one) === key)) return;
      unknown = unknown.filter((one) => positionKey(one) !== key);
      if (!cursors.has(key) && committed >= 0n) cursors.set(key, newCursor(partition, committed));
    },
  };
}

/** The member handled everything before `next`. */
export function passTo(cursor: PartitionCursor, next: bigint): void {
  cursor.leftOff = next;
  cursor.hasRow = true;
  delete cursor.soughtTo;
  delete cursor.holeUpTo;
  delete cursor.search;
  if (cursor.rereadUpTo !== undefined && next >= cursor.rereadUpTo) delete cursor.rereadUpTo;
  const { accepted } = cursor;
  if (accepted && (accepted.how === 'log_restarted' || next >= accepted.row)) delete cursor.accepted;
}

/** Seeks: the member goes back, or fetches missing offsets once more. */
export function sendTo(cursor: PartitionCursor, offset: bigint): void {
  cursor.leftOff = offset;
  cursor.emptyUpTo = offset;
  cursor.soughtTo = offset;
  cursor.isStale = true;
  delete cursor.holeUpTo;
}

const cursorAt = ({ topic, partition }: Partition, first: bigint, hasRow: boolean): PartitionCursor => ({
  topic,
  partition,
  beganAt: first,
  leftOff: first,
  emptyUpTo: first,
  hasRow,
  isBusy: false,
  isStale: false,
});

const seenUpTo = ({ leftOff, emptyUpTo }: PartitionCursor) => (emptyUpTo > leftOff ? emptyUpTo : leftOff);
