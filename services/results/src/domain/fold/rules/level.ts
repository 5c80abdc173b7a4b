import { close, mayRaise, observe, raise, unchanged } from './alarm.ts';
import { suppress } from './state.ts';
import type { AlarmChange, EvaluatedFrame, Rule, RuleState, SeenObject } from './state.ts';

/** A condition that a frame fulfils or not. */
export interface Level {
  rule: Rule;
  taskId: string;
  forMs: number;
  /** Time without the condition after which an alarm closes. */
  clearMs: number;
  /** Time without the condition that is ignored: detections flicker. */
  toleranceMs: number;
}

/** Reading of one frame. */
export interface Reading {
  frame: EvaluatedFrame;
  holds: boolean;
  matched: readonly SeenObject[];
  /** Time since the previous frame; 0 over a gap. */
  elapsedMs: number;
}

/** Evaluates one frame: idle, pending, open, closed when cleared, by frame times without gaps. */
export function evaluateLevel(
  level: Level,
  state: RuleState,
  { frame, holds, matched, elapsedMs }: Reading,
): readonly AlarmChange[] {
  const { rule, taskId, forMs, clearMs } = level;
  let changes = unchanged;
  if (state.pending) state.pending.heldMs += elapsedMs;
  if (!state.holds) state.contraryMs += elapsedMs;
  const endsAfterMs = state.open || state.pending?.isHeldBack ? clearMs : level.toleranceMs;
  if (state.contraryMs >= endsAfterMs) {
    changes = close(state, frame.timeMs, 'cleared');
    endPending(state);
  }
  state.holds = holds;
  if (!holds) return changes;
  state.contraryMs = 0;
  if (state.open) {
    observe(state.open, matched);
    return changes;
  }
  state.pending ??= { heldMs: 0, isHeldBack: false };
  const { heldMs } = state.pending;
  if (heldMs < forMs) return changes;
  if (!mayRaise(rule, state, frame.timeMs) || !frame.mayHold()) {
    state.pending.isHeldBack = true;
    return changes;
  }
  state.pending = undefined;
  const evidence = { frame: frame.ref, objects: [...matched], count: matched.length, heldMs };
  return [...changes, raise(rule, taskId, state, { atMs: frame.timeMs, evidence })];
}

/** Discards a condition that has not raised an alarm. */
export function endPending(state: RuleState): void {
  if (state.pending?.isHeldBack) suppress(state);
  state.pending = undefined;
  state.contraryMs = 0;
  state.holds = false;
}
