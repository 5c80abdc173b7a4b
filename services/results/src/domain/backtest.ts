import { createHash } from 'node:crypto';
import type { RuleSchedule, RuleWhen } from '@vision/contracts/alarm-rules';
import { judgeOf } from './fold/rules.ts';
import type { Judge } from './fold/rules.ts';
import { newRuleState } from './fold/rules/state.ts';
import type { Alarm, AlarmChange, JudgedFrame, JudgedTask } from './fold/rules/state.ts';
import type { TimeRange } from './result-query.ts';
import type { TaskStatus } from '@vision/contracts/task-events';

/** The longest time that a backtest reads, in frame times. */
export const MOST_BACKTEST_MS = 6 * 3_600_000;
/** Alarms that one backtest returns: it ends with the last one. */
export const MOST_BACKTEST_ALARMS = 500;

/** A rule that is tried, not stored. */
export interface TriedRule {
  when: RuleWhen;
  minIntervalMs: number;
  schedule: RuleSchedule | undefined;
}

/** What a rule would have raised in a part of a task. */
export interface BacktestReport {
  alarms: Alarm[];
  suppressed: number;
  framesRead: number;
  /** Share of the seconds up to `judgedToMs` that have a frame. */
  coverage: number;
  judgedToMs: number;
}

/** Judges a rule over frames in their order, and keeps what it raises. */
export class Backtest {
  readonly #judge: Judge;
  readonly #times: TimeRange;
  readonly #state = newRuleState();
  readonly #alarms = new Map<string, Alarm>();
  readonly #seconds = new Set<number>();
  #framesRead = 0;

  constructor(rule: TriedRule, task: Omit<JudgedTask, 'beginsMs'> & { createdMs: number }, times: TimeRange) {
    const { createdMs, ...rest } = task;
    const beginsMs = Math.max(createdMs, times.fromMs);
    this.#judge = judgeOf({ id: idOf(rule), version: 1, ...rule }, { ...rest, beginsMs });
    this.#times = times;
  }

  get isFull(): boolean {
    return this.#alarms.size >= MOST_BACKTEST_ALARMS;
  }

  /** The number of the newest frame that was judged. */
  get lastSeq(): number {
    return this.#state.last?.seq ?? -1;
  }

  /** Judges a frame; false when the report is full with it. */
  add(frame: JudgedFrame): boolean {
    this.#framesRead += 1;
    this.#seconds.add(Math.floor(frame.timeMs / 1000));
    this.#keep(this.#judge.frame(this.#state, frame));
    return !this.isFull;
  }

  /** No further frame follows up to this time. */
  silentTo(untilMs: number): void {
    this.#keep(this.#judge.silence(this.#state, untilMs));
  }

  /** The task has ended in the time that is judged; without a time, with its newest frame. */
  end(status: TaskStatus, endedMs: number | undefined): void {
    const atMs = endedMs ?? this.#state.last?.timeMs;
    if (atMs !== undefined) this.#keep(this.#judge.end(this.#state, { atMs, status }));
  }

  /** The report; `isWhole` says that every frame of the time was judged. */
  report(isWhole: boolean): BacktestReport {
    const { fromMs, toMs } = this.#times;
    const lastMs = this.#state.last?.timeMs;
    const judgedToMs = isWhole || lastMs === undefined ? (isWhole ? toMs : fromMs) : Math.min(toMs, lastMs + 1);
    const seconds = Math.ceil(judgedToMs / 1000) - Math.floor(fromMs / 1000);
    return {
      alarms: [...this.#alarms.values()],
      suppressed: this.#state.suppressedTotal,
      framesRead: this.#framesRead,
      coverage: Math.round((1e4 * this.#seconds.size) / Math.max(1, seconds)) / 1e4,
      judgedToMs,
    };
  }

  #keep(changes: readonly AlarmChange[]): void {
    for (const alarm of changes) this.#alarms.set(alarm.alarmId, alarm);
    const { open } = this.#state;
    if (open) this.#alarms.set(open.alarmId, open);
  }
}

/** The same rule has the same alarms, whenever it is tried. */
const idOf = (rule: TriedRule): string => createHash('sha256').update(JSON.stringify(rule)).digest('hex');
