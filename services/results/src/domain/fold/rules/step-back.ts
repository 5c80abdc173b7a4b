import type { RuleState } from './state.ts';

/**
 * Shifts the state of a rule to a clock that is behind, such as that of a worker that has taken over a stream. The next
 * frame, of this time, is evaluated as one that follows the newest by a millisecond, so the rule continues at once and
 * its measured time goes on. An open alarm keeps the facts that were announced.
 */
export function stepBack(state: RuleState, timeMs: number): void {
  if (!state.last || state.last.timeMs < timeMs) return;
  const byMs = state.last.timeMs + 1 - timeMs;
  state.last = { ...state.last, timeMs: timeMs - 1 };
  if (state.raisedMs !== undefined) state.raisedMs -= byMs;
  if (state.closedMs !== undefined) state.closedMs -= byMs;
  for (const path of Object.values(state.paths)) path.lastMs -= byMs;
}
