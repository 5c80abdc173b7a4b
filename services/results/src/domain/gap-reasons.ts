import type { Span } from './fold/coverage.ts';

export const gapReasons = [
  'source_away',
  'source_silent',
  'overload',
  'worker_lost',
  'not_started',
  'unknown',
] as const;
type GapReason = (typeof gapReasons)[number];

/** A state of a source, and when it began. */
export interface SourceState {
  attempt: number;
  n: number;
  at_ms: number;
  state: string;
  reason: string | null;
}

/** A period without frames, and the reason. */
export interface Gap extends Span {
  reason: GapReason;
}

/** Facts of a source beside its states. */
export interface SourceFacts {
  kind: 'stream' | 'upload';
  /** The task was not confirmed by the backend, or never ran. */
  isUnstarted: boolean;
}

/**
 * Returns the reason of each gap, by the states of the source in it. A gap with several reasons becomes several
 * consecutive entries. Frames that are missing although the source sent them get the reason of the state that followed.
 */
export function explainGaps(gaps: readonly Span[], listed: readonly SourceState[], facts: SourceFacts): Gap[] {
  // Video files have no frames while the image does not change.
  if (facts.kind === 'upload') return gaps.map((gap) => ({ ...gap, reason: 'source_silent' }));
  const states = listed.toSorted((a, b) => a.attempt - b.attempt || a.n - b.n);
  if (states.length === 0) {
    const reason = facts.isUnstarted ? 'not_started' : 'unknown';
    return gaps.map((gap) => ({ ...gap, reason }));
  }
  const times = timesOf(states);
  return gaps.flatMap((gap) => explain(gap, states, times));
}

/** Time at which each state began; clocks of workers differ, so a state of a later attempt may have an earlier time. */
function timesOf(states: readonly SourceState[]): number[] {
  let latest = -Infinity;
  return states.map(({ at_ms: atMs }) => (latest = Math.max(latest, atMs)));
}

interface Piece extends Span {
  reason: GapReason | undefined;
}

function explain(gap: Span, states: readonly SourceState[], times: readonly number[]): Gap[] {
  const pieces: Piece[] = [];
  let at = lastUpTo(times, gap.fromMs);
  let { fromMs } = gap;
  while (fromMs < gap.toMs) {
    const toMs = Math.min(times[at + 1] ?? Infinity, gap.toMs);
    pieces.push({ fromMs, toMs, reason: reasonOf(states, at) });
    fromMs = toMs;
    at += 1;
  }
  return joined(withReasons(pieces));
}

/** Reason for missing frames in this state; undefined when the state means that there are frames. */
function reasonOf(states: readonly SourceState[], at: number): GapReason | undefined {
  const own = states[at];
  if (!own) return 'not_started';
  const next = states[at + 1];
  if (own.state === 'stalled') return 'source_silent';
  if (own.state === 'blocked') return 'overload';
  if (own.state === 'reconnecting' || own.state === 'waiting') return 'source_away';
  if (own.state === 'connecting') {
    if (own.reason !== null) return 'source_away';
    return own.attempt === states[0]?.attempt ? 'not_started' : 'worker_lost';
  }
  return next && next.attempt > own.attempt ? 'worker_lost' : undefined;
}

function withReasons(pieces: Piece[]): Gap[] {
  let following: GapReason | undefined;
  for (const piece of pieces.toReversed()) following = piece.reason ??= following;
  let before: GapReason | undefined;
  return pieces.map((piece) => ({ ...piece, reason: (before = piece.reason ?? before) ?? 'unknown' }));
}

/** Joins neighbours with the same reason. A state without duration explains nothing. */
function joined(gaps: Gap[]): Gap[] {
  const all: Gap[] = [];
  for (const gap of gaps) {
    if (gap.toMs === gap.fromMs) continue;
    const last = all.at(-1);
    if (last?.reason === gap.reason) last.toMs = gap.toMs;
    else all.push(gap);
  }
  return all;
}

/** Index of the last time that is not after `ms`; -1 when all are. */
function lastUpTo(times: readonly number[], ms: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
