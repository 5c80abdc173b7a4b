import type { Span } from './fold/coverage.ts';
import type { Pace } from './fold/pace.ts';

const SECOND_MS = 1000;
/** A running task without a frame for this time has a gap now; before, its next frame is expected. */
const LATE_MS = 5_000;

/** Facts that determine the lifetime of a task. */
export interface LifeFacts {
  kind: 'stream' | 'upload';
  createdAtMs: number;
  /** When the task ended, or now. */
  untilMs: number;
  oldestMs: number | undefined;
  newestMs: number | undefined;
  pace: Pace;
  /** Frames after `newestMs` are not counted yet. */
  isWhole: boolean;
}

/** The period in which a task can have frames, in whole seconds. Every frame is in it. */
export function lifeOf(facts: LifeFacts): Span {
  const { kind, createdAtMs, untilMs, oldestMs, newestMs, pace, isWhole } = facts;
  if (kind === 'upload') {
    if (oldestMs === undefined || newestMs === undefined) return { fromMs: 0, toMs: 0 };
    return { fromMs: floor(oldestMs), toMs: floor(newestMs) + SECOND_MS };
  }
  const fromMs = floor(Math.min(createdAtMs, oldestMs ?? Infinity));
  const lastMs = newestMs === undefined ? fromMs : floor(newestMs) + SECOND_MS;
  const coveredMs = newestMs === undefined ? fromMs : lastMs + (pace.coveredSeconds - 1) * SECOND_MS;
  if (!isWhole) return { fromMs, toMs: lastMs };
  if (untilMs > coveredMs + LATE_MS) return { fromMs, toMs: floor(untilMs) };
  return { fromMs, toMs: Math.max(lastMs, Math.min(coveredMs, floor(untilMs) + SECOND_MS)) };
}

const floor = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS;
