import type { SourceChangedData } from '@vision/contracts/job-events';

/** Frames that were read and not published, by reason. */
export type DroppedFrames = NonNullable<SourceChangedData['dropped']>;

/** What the attempts of a job counted. */
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
  /** States that are listed of it. */
  states: number;
}

/** What a snapshot changes. */
export interface SourceChange {
  source: Source;
  /** Whether the source came into another state, so that the snapshot is listed. */
  isListed: boolean;
}

const nothingCounted: SourceCounts = {
  dropped: { fresher: 0, no_number: 0, not_held: 0, unsent: 0 },
  reconnects: 0,
};

/**
 * Applies a snapshot to what is stored of a source; undefined when it is a repeat or older than what is stored.
 * Counts start from 0 in each attempt, so those of the attempt before are added up once.
 */
export function applySnapshot(known: Source | undefined, snapshot: SourceChangedData): SourceChange | undefined {
  if (!known) return { source: { snapshot, earlier: nothingCounted, states: 1 }, isListed: true };
  const { attempt, n, state, reason } = known.snapshot;
  if (snapshot.attempt < attempt || (snapshot.attempt === attempt && snapshot.n <= n)) return undefined;
  const isListed = snapshot.state !== state || snapshot.reason !== reason;
  const earlier = snapshot.attempt > attempt ? countsOf(known) : known.earlier;
  return { source: { snapshot, earlier, states: known.states + (isListed ? 1 : 0) }, isListed };
}

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
