import type { SnapshotMode } from '@vision/contracts/create-query';

/** The stored image of a track. */
export interface StoredSnapshot {
  trackId: string;
  /** Of two images, the one with the greater attempt and number is the newer one. */
  attempt: number;
  n: number;
  /** The frame from which it is cut. */
  seq: number;
  frameTimeMs: number;
  width: number;
  height: number;
  bytes: number;
  /** Null once it has expired. */
  objectKey: string | null;
  storedAt: Date;
}

export const noSnapshotReasons = [
  'snapshots_off',
  'too_short',
  'below_score',
  'not_taken',
  'expired',
  'not_supported',
] as const;

/** State of the image of a track. */
export type TrackSnapshot =
  | { state: 'available'; seq: number; frameTimeMs: number; width: number; height: number; expiresAt: Date }
  | { state: 'pending' }
  | { state: 'none'; reason: (typeof noSnapshotReasons)[number] };

/** Facts that decide the state of the image of a track. */
export interface SnapshotFacts {
  stored: StoredSnapshot | undefined;
  /** Undefined for a task that an earlier release stored. */
  mode: SnapshotMode | undefined;
  frames: number;
  bestScore: number;
  threshold: number;
  /** An image can still arrive: the track is active, or ended a short time ago. */
  isAwaited: boolean;
  isActive: boolean;
  snapshotDays: number;
  resultExpiresAt: Date;
}

/** Frames that a track has before its first image is taken. */
const LEAST_FRAMES = 3;
const DAY_MS = 86_400_000;

/** The state of the image of a track. */
export function snapshotOf(facts: SnapshotFacts): TrackSnapshot {
  const { stored, mode, isActive, isAwaited } = facts;
  if (stored) return stored.objectKey === null ? { state: 'none', reason: 'expired' } : availableOf(stored, facts);
  if (mode === undefined) return { state: 'none', reason: 'not_supported' };
  if (mode === 'off') return { state: 'none', reason: 'snapshots_off' };
  if (isActive) return { state: 'pending' };
  if (facts.frames < LEAST_FRAMES) return { state: 'none', reason: 'too_short' };
  if (facts.bestScore < facts.threshold) return { state: 'none', reason: 'below_score' };
  return isAwaited ? { state: 'pending' } : { state: 'none', reason: 'not_taken' };
}

function availableOf(stored: StoredSnapshot, { snapshotDays, resultExpiresAt }: SnapshotFacts): TrackSnapshot {
  const { seq, frameTimeMs, width, height, storedAt } = stored;
  const expiresAt = new Date(Math.min(storedAt.getTime() + snapshotDays * DAY_MS, resultExpiresAt.getTime()));
  return { state: 'available', seq, frameTimeMs, width, height, expiresAt };
}
