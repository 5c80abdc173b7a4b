import type { SourceChangedData } from '@vision/contracts/job-events';

/** Frames that were read and not published, by reason. */
export type DroppedFrames = NonNullable<SourceChangedData['dropped']>;

/** Counts of the attempts of a job. */
interface SourceCounts {
  dropped: DroppedFrames;
  reconnects: number;
}

/** A source as it is stored. */
export interface Source {
  /** Newest snapshot of the newest attempt. */
  snapshot: SourceChangedData;
  /** Counts of the attempts before it. */
  earlier: SourceCounts;
  /** Number of its listed states. */
  states: number;
}

/** Effect of a snapshot. */
export interface SourceChange {
  source: Source;
  /** Start of a new state, which is listed; undefined while the state is the same. */
  listedAtMs: number | undefined;
}

const nothingCounted: SourceCounts = {
  dropped: { fresher: 0, no_number: 0, not_held: 0, unsent: 0 },
  reconnects: 0,
};

/**
 * Applies a snapshot to the stored source; undefined when it is a repeat or older than the stored one. Counts start
 * from 0 in each attempt, so those of the previous attempt are added once.
 */
export function applySnapshot(known: Source | undefined, snapshot: SourceChangedData): SourceChange | undefined {
  if (!known) return { source: { snapshot, earlier: nothingCounted, states: 1 }, listedAtMs: beginOf(snapshot) };
  const { attempt, n } = known.snapshot;
  if (snapshot.attempt < attempt || (snapshot.attempt === attempt && snapshot.n <= n)) return undefined;
  const isListed = isOther(known.snapshot, snapshot);
  const earlier = snapshot.attempt > attempt ? countsOf(known) : known.earlier;
  const source = { snapshot, earlier, states: known.states + (isListed ? 1 : 0) };
  return { source, listedAtMs: isListed ? beginOf(snapshot) : undefined };
}

/** An unavailable stream gets a connection attempt every minute, which may fail for another reason each time. */
const isOther = (before: SourceChangedData, { state, reason }: SourceChangedData): boolean =>
  state !== before.state || (reason !== before.reason && state !== 'waiting');

/**
 * An unavailable stream reports the time of its last frame; its state begins with the report, so earlier states stay.
 */
const beginOf = ({ state, at_ms: atMs, since_ms: sinceMs }: SourceChangedData): number =>
  state === 'waiting' ? atMs : sinceMs;

/** Counts of all attempts. */
export function countsOf({ snapshot, earlier }: Source): SourceCounts {
  const { dropped = nothingCounted.dropped, reconnects = 0 } = snapshot;
  return {
    dropped: {
      fresher: earlier.dropped.fresher + dropped.fresher,
      no_number: earlier.dropped.no_number + dropped.no_number,
      not_held: earlier.dropped.not_held + dropped.not_held,
      unsent: earlier.dropped.unsent + dropped.unsent,
    },
    reconnects: earlier.reconnects + reconnects,
  };
}
