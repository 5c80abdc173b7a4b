import type { RuleState } from './state.ts';

/**
 * Moves what a rule remembers to a clock that is behind: a worker that took a stream over may have one. The next frame,
 * of this time, is evaluated as one that follows a millisecond after the newest, so the rule is at work at once and the
 * time that it counts goes on. What an open alarm says stays as it was told.
 */
export function stepBack(state: RuleState, timeMs: number): void {
  if (!state.last || state.last.timeMs < timeMs) return;
  const byMs = state.last.timeMs + 1 - timeMs;
  state.last = { ...state.last, timeMs: timeMs - 1 };
  if (state.raisedMs !== undefined) state.raisedMs -= byMs;
  if (state.closedMs !== undefined) state.closedMs -= byMs;
  for (const path of Object.values(state.paths)) path.lastMs -= byMs;
}
