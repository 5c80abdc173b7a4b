import { close, mayRaise, raise } from './alarm.ts';
import type { Schedule } from './schedule.ts';
import { suppress } from './state.ts';
import type { AlarmChange, EvaluatedTask, Rule, RuleState } from './state.ts';

export interface Silence {
  rule: Rule;
  task: EvaluatedTask;
  schedule: Schedule;
  forMs: number;
}

/** Time from the capture of a frame until its evaluation, while nothing waits. */
const EVALUATED_WITHIN_MS = 5_000;

/**
 * End of the silence of a stream, by the clock of its newest frame, when no other frame came until `untilMs`. The clock
 * of the worker that set the time of the frame may be wrong: a silence is at least as long as the time since the
 * evaluation of the frame, and longer by at most the time between capture and evaluation.
 * @param evaluatedMs by the clock of the database; undefined when unknown
 */
export function silentUntil(
  { timeMs, evaluatedMs }: { timeMs: number; evaluatedMs: number | undefined },
  untilMs: number,
): number {
  if (evaluatedMs === undefined) return untilMs;
  const leastMs = timeMs + Math.max(0, untilMs - evaluatedMs);
  return Math.min(Math.max(untilMs, leastMs), leastMs + EVALUATED_WITHIN_MS);
}

/** Evaluates the time since the newest frame, without any frame up to `untilMs`. A later call may repeat it. */
export function evaluateSilence(
  { rule, task, schedule, forMs }: Silence,
  state: RuleState,
  untilMs: number,
): readonly AlarmChange[] {
  const sinceMs = state.last?.timeMs ?? task.beginsMs;
  const changes: AlarmChange[] = [];
  for (;;) {
    if (state.open) {
      const closedMs = schedule.first('closed', state.open.openedMs, untilMs);
      if (closedMs === undefined) return changes;
      changes.push(...close(state, closedMs, 'schedule'));
    }
    const dueMs = Math.max(sinceMs + forMs, state.closedMs ?? -Infinity);
    const earliestMs = Math.max(dueMs, (state.raisedMs ?? -Infinity) + rule.minIntervalMs);
    const atMs = schedule.first('open', earliestMs, untilMs);
    if (atMs === undefined) return changes;
    const evidence = { frame: state.last, objects: [], count: 0, heldMs: atMs - sinceMs };
    // A silence of several days has one alarm for each window.
    changes.push(raise(rule, task.taskId, state, { atMs, evidence, key: `silent until ${atMs}` }));
  }
}

/** A frame ends the silence. */
export function endSilence(silence: Silence, state: RuleState, atMs: number): readonly AlarmChange[] {
  const { rule, task, schedule, forMs } = silence;
  const changes = evaluateSilence(silence, state, atMs);
  const dueMs = (state.last?.timeMs ?? task.beginsMs) + forMs;
  const wasRaised = state.raisedMs !== undefined && state.raisedMs >= dueMs;
  const heldBackMs = wasRaised ? undefined : schedule.first('open', dueMs, atMs);
  if (heldBackMs !== undefined && !mayRaise(rule, state, heldBackMs)) suppress(state);
  // A frame that was delayed for longer than the rule waits is older than the alarm.
  return [...changes, ...close(state, Math.max(atMs, state.open?.openedMs ?? atMs), 'cleared')];
}
