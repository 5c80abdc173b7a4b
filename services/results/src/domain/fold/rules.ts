import type { TaskStatus } from '@vision/contracts/task-events';
import type { RuleWhen, RuleWhenOf } from '@vision/contracts/alarm-rules';
import type { FoldedFrame } from './state.ts';
import type { Pace } from './pace.ts';
import { close, mayRaise, raise, unchanged } from './rules/alarm.ts';
import { endPending, evaluateLevel } from './rules/level.ts';
import { endsOf, evaluateLine, pathsPerLine } from './rules/line.ts';
import { matcherOf } from './rules/match.ts';
import { always, scheduleOf } from './rules/schedule.ts';
import type { Schedule } from './rules/schedule.ts';
import { endSilence, evaluateSilence } from './rules/silence.ts';
import { frameOf, suppress } from './rules/state.ts';
import { stepBack } from './rules/step-back.ts';
import type {
  AlarmChange,
  FrameRef,
  EvaluatedFrame,
  EvaluatedTask,
  Rule,
  RuleState,
  SeenObject,
} from './rules/state.ts';

/**
 * Evaluates a rule in one task. Frames come in the order of their numbers, in any portions; a frame that is not newer
 * than the previous one is skipped. The state is passed to each call, and is changed in place.
 */
export interface Evaluator {
  frame: (state: RuleState, frame: EvaluatedFrame) => readonly AlarmChange[];
  /** No frame arrived up to this time. */
  silence: (state: RuleState, untilMs: number) => readonly AlarmChange[];
  /** The task has ended, and every frame of it was evaluated. */
  end: (state: RuleState, end: { atMs: number; status: TaskStatus }) => readonly AlarmChange[];
}

/** Time without frames that closes an alarm: what happens in it is unknown. */
const GAP_CLOSES_AFTER_MS = 60_000;

/**
 * Whether a frame follows another one. Numbers decide: the clock of a worker may be behind that of the previous one.
 * Two frames of one time are one instant.
 */
export const isNewer = (frame: FrameRef, last: FrameRef): boolean =>
  frame.seq > last.seq && frame.timeMs !== last.timeMs;

/** A frame with its objects, prepared for any number of rules. */
export function toEvaluated({
  seq,
  timeMs,
  eachObject,
}: Pick<FoldedFrame, 'seq' | 'timeMs' | 'eachObject'>): EvaluatedFrame {
  const objects: SeenObject[] = [];
  eachObject(({ label, trackId, score, cx, cy, width, height }) =>
    objects.push({ label, trackId, score, cx, cy, width, height }),
  );
  return frameOf({ seq, timeMs }, objects);
}

/** Prepares a rule for a task. */
export function evaluatorOf(rule: Rule, task: EvaluatedTask): Evaluator {
  // Frames of a file have no time of day.
  const schedule = rule.schedule && task.isLive ? scheduleOf(rule.schedule) : always;
  const kind = kindOf(rule.when, { rule, task, schedule });
  return {
    frame: (state, frame) => {
      if (state.last && !isNewer(frame, state.last)) return unchanged;
      stepBack(state, frame.timeMs);
      const changes = both(kind.silence(state, frame.timeMs, true), kind.frame(state, frame));
      state.last = frame.ref;
      return changes;
    },
    silence: (state, untilMs) => kind.silence(state, untilMs, false),
    end: (state, { atMs, status }) => {
      endPending(state);
      return [...close(state, atMs, 'task_end'), ...endedAs(rule, task, { state, atMs, status, schedule })];
    },
  };
}

interface Surroundings {
  rule: Rule;
  task: EvaluatedTask;
  schedule: Schedule;
}

/** Differences between the kinds of rules. */
interface Kind {
  frame: (state: RuleState, frame: EvaluatedFrame) => readonly AlarmChange[];
  /** Time passed without a frame, up to a frame or not. */
  silence: (state: RuleState, untilMs: number, isFrame: boolean) => readonly AlarmChange[];
}

const none = () => unchanged;

/** Most frames change nothing, so nothing is allocated for them. */
const both = (first: readonly AlarmChange[], second: readonly AlarmChange[]): readonly AlarmChange[] =>
  first.length === 0 ? second : [...first, ...second];

function kindOf(when: RuleWhen, around: Surroundings): Kind {
  switch (when.kind) {
    case 'object_present':
    case 'object_absent':
      return levelKind(when, around);
    case 'line_crossed':
      return lineKind(when, around);
    case 'source_down': {
      if (!around.task.isLive) return { frame: none, silence: none };
      const silence = { ...around, forMs: Math.max(when.for_ms, around.task.pace.trackEndsAfterMs) };
      return {
        frame: none,
        silence: (state, untilMs, isFrame) =>
          isFrame ? endSilence(silence, state, untilMs) : evaluateSilence(silence, state, untilMs),
      };
    }
    case 'task_ended':
      return { frame: none, silence: none };
  }
}

function levelKind(when: RuleWhenOf<'object_present' | 'object_absent'>, { rule, task, schedule }: Surroundings): Kind {
  const matches = matcherOf(when, task);
  const toleranceMs = task.pace.coveredSeconds * 1000;
  const clearMs = when.kind === 'object_present' ? Math.max(when.clear_ms, toleranceMs) : toleranceMs;
  const level = { rule, taskId: task.taskId, forMs: when.for_ms, clearMs, toleranceMs };
  return {
    frame: (state, frame) => {
      if (!schedule.isOpen(frame.timeMs)) {
        endPending(state);
        return close(state, frame.timeMs, 'schedule');
      }
      const matched = matches(frame);
      const holds = when.kind === 'object_present' ? matched.length >= when.min_count : matched.length === 0;
      return evaluateLevel(level, state, { frame, holds, matched, elapsedMs: elapsedMs(state, frame, task.pace) });
    },
    silence: (state, untilMs) => {
      if (!state.last || untilMs - state.last.timeMs <= GAP_CLOSES_AFTER_MS) return unchanged;
      endPending(state);
      return close(state, state.last.timeMs + GAP_CLOSES_AFTER_MS, 'gap');
    },
  };
}

function lineKind(when: RuleWhenOf<'line_crossed'>, { rule, task, schedule }: Surroundings): Kind {
  const matches = matcherOf(when, task);
  const { trackEndsAfterMs } = task.pace;
  const mostPaths = pathsPerLine(task.lines ?? 1);
  const line = { rule, taskId: task.taskId, when, ends: endsOf(when), trackEndsAfterMs, mostPaths };
  return {
    frame: (state, frame) => {
      if (isGap(state, frame.timeMs, task.pace)) state.paths = {};
      const matched = matches(frame);
      return evaluateLine(line, state, { frame, matched, mayAlarm: schedule.isOpen(frame.timeMs) });
    },
    silence: none,
  };
}

/** Time does not run in a gap. */
const elapsedMs = (state: RuleState, { timeMs }: EvaluatedFrame, pace: Pace): number =>
  !state.last || isGap(state, timeMs, pace) ? 0 : timeMs - state.last.timeMs;

/** Whether frames are missing between the newest one and this time: tracks end then, too. */
const isGap = ({ last }: RuleState, timeMs: number, { trackEndsAfterMs }: Pace): boolean =>
  last !== undefined && timeMs - last.timeMs > trackEndsAfterMs;

interface TaskEnd {
  state: RuleState;
  atMs: number;
  status: TaskStatus;
  schedule: Schedule;
}

function endedAs(
  rule: Rule,
  { taskId }: EvaluatedTask,
  { state, atMs, status, schedule }: TaskEnd,
): readonly AlarmChange[] {
  if (rule.when.kind !== 'task_ended' || !rule.when.statuses.some((one) => one === status)) return [];
  if (!schedule.isOpen(atMs)) return [];
  if (!mayRaise(rule, state, atMs)) {
    suppress(state);
    return [];
  }
  const evidence = { frame: state.last, objects: [], count: 0, heldMs: 0, status };
  return [raise(rule, taskId, state, { atMs, evidence }), ...close(state, atMs, 'task_end')];
}
