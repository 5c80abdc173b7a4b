import type { SourceChangedData } from '@vision/contracts/job-events';
import type { TaskStatus } from '@vision/contracts/task-events';
import { adviceFor, endedReason } from '@vision/contracts/ended-reason';
import type { EndedReason } from '@vision/contracts/ended-reason';
import { countsOf } from './source.ts';
import type { DroppedFrames, Source } from './source.ts';

/** Stored facts of a task and its source. */
export interface SourceRecord {
  kind: 'stream' | 'upload' | null;
  status: TaskStatus;
  /** Reason from tasks for its failure or refund. */
  reason: string | null;
  endedAtMs: number | null;
  /** Number of stored frames, and the largest frame number; -1 without frames. */
  stored: number;
  maxSeq: number;
  /** Storing position of the newest of them. */
  position: number;
  source: Source | null;
  /** Time since the newest snapshot was stored. */
  ageMs: number | null;
  nowMs: number;
}

/** State of a source as callers see it. */
type ShownState = SourceChangedData['state'] | 'unknown' | 'ended';

/** A source as callers see it. */
export interface ShownSource {
  state: ShownState;
  since_ms: number;
  away_since_ms?: number | undefined;
  gives_up_at_ms?: number | undefined;
  sample_fps?: number | undefined;
  measured_fps?: number | undefined;
  is_behind?: boolean | undefined;
  codec?: string | undefined;
  image?: { width: number; height: number } | undefined;
  duration_ms?: number | undefined;
  frames: { stored: number; dropped?: DroppedFrames };
  reconnects?: number;
  ended?: { status: TaskStatus; reason?: EndedReason; advice?: string } | undefined;
}

/** A worker reports every minute: after this time its last report says nothing about the present. */
const STALE_MS = 150_000;
/** Statuses of tasks that have ended. */
export const ENDED: ReadonlySet<TaskStatus> = new Set(['stopped', 'succeeded', 'failed', 'refunded']);
/** Statuses of tasks that the backend has not confirmed. */
export const UNCONFIRMED: ReadonlySet<TaskStatus> = new Set(['submitting', 'resolving']);

/** The present state of a source and its history. A state that no worker reports is `unknown`, never a guess. */
export function describeSource(record: SourceRecord, createdAtMs: number): ShownSource {
  const { source, status, stored } = record;
  const { snapshot } = source ?? {};
  const isLive = !ENDED.has(status);
  const counts = source ? countsOf(source) : undefined;
  return {
    ...stateOf(record, createdAtMs),
    sample_fps: snapshot?.sample_fps,
    measured_fps: isLive && !isStale(record) ? snapshot?.measured_fps : undefined,
    is_behind: isLive && !isStale(record) ? snapshot?.is_behind : undefined,
    codec: snapshot?.codec,
    image: snapshot?.image,
    duration_ms: snapshot?.duration_ms,
    frames: { stored, ...(counts && { dropped: counts.dropped }) },
    ...(counts && { reconnects: counts.reconnects }),
    ended: isLive ? undefined : endOf(record),
  };
}

/** A stream that waits for another connection has no worker, so no report is expected until its wait has ended. */
function isStale({ source, ageMs, nowMs }: SourceRecord): boolean {
  if (ageMs === null || ageMs <= STALE_MS) return false;
  const { state, gives_up_at_ms: givesUpAtMs = 0 } = source?.snapshot ?? {};
  return state !== 'waiting' || nowMs > givesUpAtMs + STALE_MS;
}

type ShownAbsence = Pick<ShownSource, 'state' | 'since_ms' | 'away_since_ms' | 'gives_up_at_ms'>;

function stateOf(record: SourceRecord, createdAtMs: number): ShownAbsence {
  const { source, status, endedAtMs } = record;
  if (ENDED.has(status)) return { state: 'ended', since_ms: endedAtMs ?? createdAtMs };
  if (!source) return { state: UNCONFIRMED.has(status) ? 'waiting' : 'unknown', since_ms: createdAtMs };
  const { state, since_ms, at_ms: atMs, away_since_ms, gives_up_at_ms } = source.snapshot;
  return isStale(record) ? { state: 'unknown', since_ms: atMs } : { state, since_ms, away_since_ms, gives_up_at_ms };
}

function endOf({ status, reason: given }: SourceRecord): ShownSource['ended'] {
  if (status !== 'failed' && status !== 'refunded') return { status };
  const reason = endedReason(given);
  return { status, reason, advice: adviceFor(reason) };
}
