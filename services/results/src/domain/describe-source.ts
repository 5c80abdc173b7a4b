import type { SourceChangedData } from '@vision/contracts/job-events';
import type { TaskStatus } from '@vision/contracts/task-events';
import { adviceFor, endedReason } from '@vision/contracts/ended-reason';
import type { EndedReason } from '@vision/contracts/ended-reason';
import { countsOf } from './source.ts';
import type { DroppedFrames, Source } from './source.ts';

/** What is stored of a task and its source. */
export interface SourceRecord {
  kind: 'stream' | 'upload' | null;
  status: TaskStatus;
  /** Why it failed or was refunded, as tasks says. */
  reason: string | null;
  endedAtMs: number | null;
  /** Frames that are stored, and the largest number of one; -1 without any. */
  stored: number;
  maxSeq: number;
  /** Where the newest of them was stored. */
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

/** A worker reports every minute: after this time its last report says nothing about now. */
const STALE_MS = 150_000;
/** Statuses of tasks that have ended. */
export const ENDED: ReadonlySet<TaskStatus> = new Set(['stopped', 'succeeded', 'failed', 'refunded']);
/** Statuses of tasks that the backend has not confirmed. */
export const UNCONFIRMED: ReadonlySet<TaskStatus> = new Set(['submitting', 'resolving']);

/** What a source does now and did. A state that no worker reports is `unknown`, never a guess. */
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

/** No worker holds a stream that waits for another connection, so none reports it until its time is over. */
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
