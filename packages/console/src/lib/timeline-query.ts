/** Query ranges of a timeline within the limits of the service. */

const SECOND_MS = 1000;
/** Maximum ranges with one-second buckets; shorter for streams, whose frames are counted for each query. */
const FINE_MS = { stream: 600_000, upload: 2_400_000 } as const;
/**
 * How far a range extends beyond the latest time that the source reported, so that it contains a gap that has begun
 * since. The service cuts the range off at its own current time.
 */
const AHEAD_MS = 5_000;

export type SourceKind = keyof typeof FINE_MS;
interface Fine {
  bucket_ms?: '1000';
}

/** One-second buckets for a short enough range; for others the service chooses. */
export const bucketFor = (kind: SourceKind, lengthMs: number): Fine =>
  lengthMs <= FINE_MS[kind] ? { bucket_ms: '1000' } : {};

/** Times that a source reports. */
export interface SourceTimes {
  kind: SourceKind;
  coverage: { to_ms: number };
  last_frame_time_ms?: number | undefined;
  duration_ms?: number | undefined;
}

interface TimelineRange extends Fine {
  from_ms?: number;
  to_ms?: number;
}

interface Asked {
  /** How much of a stream is shown; undefined: all of it. */
  lengthMs: number | undefined;
  isRunning: boolean;
}

/**
 * The newest part of a timeline. It ends at the service's current time, not with the last frame: a camera that sends
 * nothing leaves a gap there. The clock of this computer may be wrong and is not used.
 */
export function timelineRange(source: SourceTimes | undefined, { lengthMs, isRunning }: Asked): TimelineRange {
  if (!source) return {};
  const { kind, coverage, last_frame_time_ms: lastMs, duration_ms: videoMs } = source;
  if (kind === 'upload') return bucketFor(kind, videoMs ?? lastMs ?? Infinity);
  if (lengthMs === undefined) return {};
  const nowMs = Math.max(lastMs ?? 0, coverage.to_ms) + (isRunning ? AHEAD_MS : 0);
  const toMs = (Math.floor(nowMs / SECOND_MS) + 1) * SECOND_MS;
  return { from_ms: toMs - lengthMs, to_ms: toMs, ...bucketFor(kind, lengthMs) };
}
