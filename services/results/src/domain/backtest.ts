import { createHash } from 'node:crypto';
import type { RuleSchedule, RuleWhen } from '@vision/contracts/alarm-rules';
import type { Pace } from './fold/pace.ts';
import { evaluatorOf } from './fold/rules.ts';
import type { Evaluator } from './fold/rules.ts';
import { CROSSINGS_A_MINUTE, MinuteLimit } from './fold/rules/minute-limit.ts';
import { newRuleState } from './fold/rules/state.ts';
import type { Alarm, AlarmChange, EvaluatedFrame, EvaluatedTask } from './fold/rules/state.ts';
import type { TimeRange } from './result-query.ts';
import type { TaskStatus } from '@vision/contracts/task-events';

/** The longest time that a backtest reads, in frame times. */
export const MOST_BACKTEST_MS = 6 * 3_600_000;
/** Alarms that one backtest returns: it ends with the last one. */
export const MOST_BACKTEST_ALARMS = 500;

/** A rule that is evaluated without being stored. */
export interface TriedRule {
  when: RuleWhen;
  minIntervalMs: number;
  schedule: RuleSchedule | undefined;
}

/** Alarms that a rule would have raised in a part of a task. */
export interface BacktestReport {
  alarms: Alarm[];
  suppressed: number;
  framesRead: number;
  /** Share of the seconds of the task up to `evaluatedToMs` that frames cover. */
  coverage: number;
  evaluatedToMs: number;
}

/** A running stream without a frame for this time has none in transit. */
const ARRIVES_WITHIN_MS = 5_000;

interface Progress {
  toMs: number;
  isLive: boolean;
  /** All frames are stored. */
  isOver: boolean;
  endedMs: number | undefined;
  nowMs: number;
  /** End of the time whose frames were evaluated. */
  reachedMs: number;
  pace: Pace;
}

/** Time before which every frame of a range is stored; undefined when frames after the newest one may arrive. */
export function completeUntil(progress: Progress): number | undefined {
  const { toMs, isLive, isOver, endedMs, nowMs, reachedMs, pace } = progress;
  if (!isLive) return isOver ? toMs : undefined;
  if (endedMs !== undefined) return Math.min(toMs, endedMs);
  const isDue = nowMs - reachedMs <= Math.max(ARRIVES_WITHIN_MS, pace.trackEndsAfterMs);
  return isDue ? undefined : Math.min(toMs, nowMs);
}

/** Evaluates a rule over frames in their order, and collects its alarms. */
export class Backtest {
  readonly #evaluator: Evaluator;
  readonly #times: TimeRange;
  readonly #beginsMs: number;
  readonly #pace: Pace;
  readonly #state = newRuleState();
  readonly #crossings = new MinuteLimit(CROSSINGS_A_MINUTE);
  readonly #alarms = new Map<string, Alarm>();
  readonly #seconds = new Set<number>();
  #framesRead = 0;
  #endsMs = Infinity;

  constructor(rule: TriedRule, task: Omit<EvaluatedTask, 'beginsMs'> & { createdMs: number }, times: TimeRange) {
    const { createdMs, ...rest } = task;
    const beginsMs = Math.max(createdMs, times.fromMs);
    this.#evaluator = evaluatorOf({ id: idOf(rule), version: 1, ...rule }, { ...rest, beginsMs });
    this.#times = times;
    this.#beginsMs = beginsMs;
    this.#pace = task.pace;
  }

  get isFull(): boolean {
    return this.#alarms.size >= MOST_BACKTEST_ALARMS;
  }

  /** The number of the newest frame that was evaluated. */
  get lastSeq(): number {
    return this.#state.last?.seq ?? -1;
  }

  /** End of the time whose frames were evaluated. */
  get reachedMs(): number {
    const { fromMs, toMs } = this.#times;
    const lastMs = this.#state.last?.timeMs;
    return lastMs === undefined ? fromMs : Math.min(toMs, lastMs + 1);
  }

  /** Evaluates a frame; returns false when the report is full afterwards. */
  add(frame: EvaluatedFrame): boolean {
    this.#framesRead += 1;
    const second = Math.floor(frame.timeMs / 1000);
    for (let at = 0; at < this.#pace.coveredSeconds; at += 1) this.#seconds.add(second + at);
    const mayCross = () => this.#crossings.take(frame.timeMs);
    this.#keep(this.#evaluator.frame(this.#state, { ...frame, mayCross }));
    return !this.isFull;
  }

  /** No further frame arrived up to this time. */
  silentTo(untilMs: number): void {
    this.#keep(this.#evaluator.silence(this.#state, untilMs));
  }

  /** The task ended in the evaluated period; without a time, with its newest frame. */
  end(status: TaskStatus, endedMs: number | undefined): void {
    const atMs = endedMs ?? this.#state.last?.timeMs;
    if (atMs === undefined) return;
    this.#endsMs = atMs + 1;
    this.#keep(this.#evaluator.end(this.#state, { atMs, status }));
  }

  /** The report; every frame before `untilMs` was evaluated, or without it every frame up to the newest one. */
  report(untilMs: number | undefined): BacktestReport {
    const evaluatedToMs = Math.max(this.reachedMs, untilMs ?? -Infinity);
    return {
      alarms: [...this.#alarms.values()],
      suppressed: this.#state.suppressedTotal,
      framesRead: this.#framesRead,
      coverage: this.#coverageTo(Math.min(evaluatedToMs, this.#endsMs)),
      evaluatedToMs,
    };
  }

  #coverageTo(toMs: number): number {
    const from = Math.floor(this.#beginsMs / 1000);
    const to = Math.ceil(toMs / 1000);
    const covered = [...this.#seconds].filter((second) => second >= from && second < to);
    return Math.round((1e4 * covered.length) / Math.max(1, to - from)) / 1e4;
  }

  #keep(changes: readonly AlarmChange[]): void {
    for (const alarm of changes) this.#put(alarm);
    const { open } = this.#state;
    if (open) this.#put(open);
  }

  #put(alarm: Alarm): void {
    if (!this.isFull || this.#alarms.has(alarm.alarmId)) this.#alarms.set(alarm.alarmId, alarm);
  }
}

/** The same rule gets the same alarms in every backtest. */
const idOf = (rule: TriedRule): string => createHash('sha256').update(JSON.stringify(rule)).digest('hex');
