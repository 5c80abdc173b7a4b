import type { Search } from './leader-epoch.ts';
import { positionKey } from './positions.ts';
import type { KnownRow, Partition } from './positions.ts';

/** How far a member of a group has come in one of its partitions since the group gave it to it. */
export interface Place extends KnownRow, Partition {
  /** Where it began. */
  beganAt: bigint;
  /** Where it goes on: behind the last record whose effects are committed. */
  leftOff: bigint;
  /** Offsets before this one held no record of ours (ends of transactions), beyond `leftOff`. */
  emptyUpTo: bigint;
  /** Where it was sent last, until something was handled. */
  soughtTo?: bigint;
  /** The way back to where the log is the one that was read. */
  search?: Search;
  /** A row before which the log was compared. */
  trusted?: bigint;
  /** Records before it were handled once, and the database lost their effects: they are read again. */
  rereadUpTo?: bigint;
  /** First offset of the batch at hand when offsets before it are missing. */
  holeUpTo?: bigint;
  /** Its records are being handled: no other code moves it meanwhile. */
  isBusy: boolean;
  /** It was sent elsewhere while a batch was at hand, so the rest of that batch counts no more. */
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

export interface Places {
  /** A batch begins: before its records are handled. */
  batchBegins: (batch: BatchFacts) => void;
  batchEnds: (batch: BatchFacts) => void;
  at: (partition: Partition) => Place;
  /** Undefined when the group took the partition away meanwhile. */
  find: (partition: Partition) => Place | undefined;
  /** The group gave out its partitions anew: what was known counts no more. */
  assigned: (assignment: Assignment) => void;
  all: () => Map<string, Place>;
  /** Partitions whose beginning is not known yet. */
  unknown: () => Partition[];
  /** Where the group goes on in a partition, if it ever committed; counts while nothing was read from it. */
  learn: (partition: Partition, committed: bigint) => void;
}

/**
 * The memory of one member of a group. `expectsRows`: a partition without a row is one whose row was lost, until the
 * opposite is known.
 */
export function createPlaces({ expectsRows = false }: { expectsRows?: boolean } = {}): Places {
  const newPlace = (partition: Partition, first: bigint) => placeAt(partition, first, expectsRows);
  const places = new Map<string, Place>();
  let unknown: Partition[] = [];
  return {
    batchBegins: (batch) => {
      if (batch.firstOffset === null) return;
      const first = BigInt(batch.firstOffset);
      const place = places.get(positionKey(batch));
      if (!place || first < place.leftOff) places.set(positionKey(batch), newPlace(batch, first));
      else if (first > seenUpTo(place)) place.holeUpTo = first;
      else delete place.holeUpTo;
      if (place) place.isStale = false;
    },
    batchEnds: (batch) => {
      const place = places.get(positionKey(batch));
      if (!place || batch.batchSize > 0 || batch.firstOffset === null) return;
      if (BigInt(batch.firstOffset) <= seenUpTo(place)) place.emptyUpTo = BigInt(batch.lastOffset) + 1n;
    },
    at: (partition) => {
      const place = places.get(positionKey(partition));
      if (!place) throw new Error('records came without the batch they are in');
      return place;
    },
    find: (partition) => places.get(positionKey(partition)),
    assigned: (assignment) => {
      unknown = Object.entries(assignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      );
      places.clear();
    },
    all: () => new Map(places),
    unknown: () => unknown,
    learn: (partition, committed) => {
      const key = positionKey(partition);
      // The group may have given it to somebody else meanwhile.
      if (!unknown.some((one) => positionKey(one) === key)) return;
      unknown = unknown.filter((one) => positionKey(one) !== key);
      if (!places.has(key) && committed >= 0n) places.set(key, newPlace(partition, committed));
    },
  };
}

/** The member handled everything before `next`. */
export function passTo(place: Place, next: bigint): void {
  place.leftOff = next;
  place.hasRow = true;
  delete place.soughtTo;
  delete place.holeUpTo;
  delete place.search;
  if (place.rereadUpTo !== undefined && next >= place.rereadUpTo) delete place.rereadUpTo;
  const { accepted } = place;
  if (accepted && (accepted.how === 'log_restarted' || next >= accepted.row)) delete place.accepted;
}

/** The member goes back, or asks once more for offsets that were missing. */
export function sendTo(place: Place, offset: bigint): void {
  place.leftOff = offset;
  place.emptyUpTo = offset;
  place.soughtTo = offset;
  place.isStale = true;
  delete place.holeUpTo;
}

const placeAt = ({ topic, partition }: Partition, first: bigint, hasRow: boolean): Place => ({
  topic,
  partition,
  beganAt: first,
  leftOff: first,
  emptyUpTo: first,
  hasRow,
  isBusy: false,
  isStale: false,
});

const seenUpTo = ({ leftOff, emptyUpTo }: Place) => (emptyUpTo > leftOff ? emptyUpTo : leftOff);
