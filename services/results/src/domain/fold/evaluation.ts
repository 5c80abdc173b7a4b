import type { TaskStatus } from '@vision/contracts/task-events';
import { activeRule, isAtWork, isConcerned } from './active-rule.ts';
import type { ActiveRule, PreparedRule } from './active-rule.ts';
import type { EvaluationState, RuleProgress } from './evaluation-state.ts';
import { isNewer } from './rules.ts';
import { close } from './rules/alarm.ts';
import { CROSSINGS_A_MINUTE, LEVELS_A_MINUTE, MinuteLimit } from './rules/minute-limit.ts';
import { frameOf } from './rules/state.ts';
import type { AlarmChange, FrameRef, RuleState } from './rules/state.ts';
import { silentUntil } from './rules/silence.ts';
import { stepBack } from './rules/step-back.ts';
import type { FoldedFrame } from './state.ts';
import { readObjects, watched } from './watched-frame.ts';
import type { WatchedFrame } from './watched-frame.ts';

/** A change of an alarm, with the rule that made it. */
export interface RuleAlarm extends Pick<RuleProgress, 'id' | 'version' | 'kind'> {
  alarm: AlarmChange;
}

/** Facts of a task at the start of an evaluation. */
interface EvaluationStart {
  prepared: readonly PreparedRule[];
  state: EvaluationState;
  /** Position of its newest stored frame. */
  position: number;
  /** Its newest frame that was evaluated or skipped before. */
  newest: FrameRef | undefined;
  createdMs: number;
  endedMs: number | undefined;
  /** Present time, by the clock of the database; absent where no silence is evaluated later. */
  nowMs?: number | undefined;
}

/**
 * Evaluates the rules of one task. Frames are added as they were stored, in the order of their numbers; `changes`
 * collects opened and closed alarms. An alarm of a version of a rule that no longer applies closes at once.
 *
 * A rule is evaluated on frames that are stored after it was read; a new version, on those after the previous version.
 * A task that was created after the rule is evaluated from its first frame.
 */
export class Evaluation {
  readonly changes: RuleAlarm[] = [];
  readonly #rules: ActiveRule[];
  readonly #labels: ReadonlySet<string>;
  readonly #seesAll: boolean;
  /** Whether frames without its objects affect a rule, as of the newest evaluated frame. */
  #isAtWork: boolean;
  readonly #nowMs: number | undefined;
  #newest: FrameRef | undefined;
  #evaluatedMs: number | undefined;
  #hasEnded: boolean;
  #hasChanged = false;
  #setBackMs = 0;
  readonly #crossings: MinuteLimit;
  readonly #levels: MinuteLimit;

  constructor(start: EvaluationStart) {
    const { prepared, state, newest } = start;
    this.#nowMs = start.nowMs;
    const isKnown = state.newest !== undefined && newest?.seq === state.newest.seq;
    // The newest time of the fold may come from a clock that was fast.
    this.#newest = isKnown ? state.newest : newest;
    this.#evaluatedMs = isKnown ? state.judgedMs : undefined;
    this.#hasEnded = state.hasEnded;
    this.#crossings = new MinuteLimit(CROSSINGS_A_MINUTE, state.crossings);
    this.#levels = new MinuteLimit(LEVELS_A_MINUTE, state.levels);
    const known = new Map(state.rules.map((rule) => [`${rule.id}/${rule.version}`, rule]));
    this.#rules = state.hasEnded ? [] : prepared.flatMap((one) => activeRule(one, known, start));
    const kept = new Set(this.#rules.map(({ id, version }) => `${id}/${version}`));
    for (const [name, rule] of known) if (!kept.has(name)) this.#drop(rule);
    this.#hasChanged ||= this.#rules.some(({ id, version }) => !known.has(`${id}/${version}`));
    this.#labels = new Set(prepared.flatMap(({ rule }) => ('labels' in rule.when ? rule.when.labels : [])));
    this.#seesAll = this.#rules.some(({ labels }) => labels === undefined);
    this.#isAtWork = this.#rules.some(isAtWork);
  }

  /** Whether no rule is evaluated. */
  get isIdle(): boolean {
    return this.size === 0;
  }

  /** Number of evaluated rules. */
  get size(): number {
    return this.#rules.length;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether the state differs from the initial one. */
  get hasChanged(): boolean {
    return this.#hasChanged || this.changes.length > 0;
  }

  /** Whether a silence can change anything: a rule waits for one, or has an alarm that a gap closes. */
  get waitsForSilence(): boolean {
    return this.#rules.some(({ kind, isScheduled, state }) =>
      kind === 'source_down' ? isScheduled || state.open === undefined : state.open !== undefined,
    );
  }

  /** The longest time by which a frame was older than the previous one; 0 when times only increased. */
  get setBackMs(): number {
    return this.#setBackMs;
  }

  get newest(): FrameRef | undefined {
    return this.#newest;
  }

  /** Crossings that raised no alarm because there were too many within a minute. */
  get crossingsLeftOut(): number {
    return this.#crossings.leftOut;
  }

  /** Returns and clears the collected changes. */
  takeChanges(): RuleAlarm[] {
    return this.changes.splice(0);
  }

  /** Wraps the frames so that any reader collects the objects that rules need, for `add`. */
  watch(frames: readonly FoldedFrame[]): readonly WatchedFrame[] {
    return this.isIdle ? frames : frames.map((frame) => watched(frame, this.#labels));
  }

  /** Evaluates frames. */
  add(frames: readonly WatchedFrame[]): void {
    if (this.isIdle) return;
    for (const frame of frames) this.#add(frame);
  }

  /** Time from the newest frame until this time; undefined before the first frame. */
  silentMs(atMs: number): number | undefined {
    return this.#newest && this.#silentUntil(atMs) - this.#newest.timeMs;
  }

  /** No frame of this live stream arrived up to this time. */
  silence(atMs: number): void {
    const untilMs = this.#silentUntil(atMs);
    for (const rule of this.#rules) this.#keep(rule, rule.evaluator.silence(this.#upToDate(rule), untilMs));
    this.#isAtWork = this.#rules.some(isAtWork);
  }

  /** The task has ended, and every frame of it was added. */
  end(end: { atMs: number; status: TaskStatus }): void {
    for (const rule of this.#rules) this.#keep(rule, rule.evaluator.end(this.#upToDate(rule), end));
    this.#rules.length = 0;
    this.#hasEnded = true;
    this.#hasChanged = true;
  }

  /** The state after everything that was added. */
  state(): EvaluationState {
    const rules = this.#rules.map((rule) => {
      const { id, version, kind, from } = rule;
      return { id, version, kind, from, state: this.#upToDate(rule) };
    });
    const counts = { crossings: this.#crossings.newest, levels: this.#levels.newest };
    return { hasEnded: this.#hasEnded, rules, newest: this.#newest, judgedMs: this.#evaluatedMs, ...counts };
  }

  #add(frame: WatchedFrame): void {
    const { seq, timeMs, position } = frame;
    if (this.#newest && !isNewer(frame, this.#newest)) {
      // Of two frames of one time the second is not evaluated, but it becomes the newest one.
      if (seq > this.#newest.seq) this.#renew({ seq, timeMs });
      return;
    }
    if (this.#newest && timeMs < this.#newest.timeMs) this.#setBack(timeMs, this.#newest.timeMs);
    const objects = frame.seen ?? readObjects(frame, this.#labels);
    if (objects.length > 0 || this.#seesAll || this.#isAtWork) {
      const evaluated = frameOf({ seq, timeMs }, objects, {
        mayCross: () => this.#crossings.take(timeMs),
        mayHold: () => this.#levels.take(timeMs),
      });
      for (const rule of this.#rules) {
        if (position <= rule.from || !isConcerned(rule, evaluated.byLabel)) continue;
        this.#keep(rule, rule.evaluator.frame(this.#upToDate(rule), evaluated));
      }
      this.#isAtWork = this.#rules.some(isAtWork);
    }
    this.#renew({ seq, timeMs });
    this.#hasChanged = true;
  }

  /** By the clock of the newest frame. */
  #silentUntil(atMs: number): number {
    return this.#newest ? silentUntil({ timeMs: this.#newest.timeMs, evaluatedMs: this.#evaluatedMs }, atMs) : atMs;
  }

  #renew(newest: FrameRef): void {
    this.#newest = newest;
    this.#evaluatedMs = this.#nowMs;
  }

  /** The next frame is older than the newest one. */
  #setBack(timeMs: number, newestMs: number): void {
    this.#setBackMs = Math.max(this.#setBackMs, newestMs - timeMs);
    for (const rule of this.#rules) stepBack(this.#upToDate(rule), timeMs);
  }

  /** Frames that do not concern a rule are not evaluated: they only advance its progress. */
  #upToDate({ state }: ActiveRule): RuleState {
    if (this.#newest && (state.last === undefined || state.last.seq < this.#newest.seq)) state.last = this.#newest;
    return state;
  }

  #drop({ id, version, kind, state }: RuleProgress): void {
    this.#hasChanged = true;
    const openedMs = state.open?.openedMs ?? 0;
    for (const alarm of close(state, Math.max(openedMs, this.#newest?.timeMs ?? openedMs), 'rule'))
      this.changes.push({ id, version, kind, alarm });
  }

  #keep({ id, version, kind }: RuleProgress, changes: readonly AlarmChange[]): void {
    for (const alarm of changes) this.changes.push({ id, version, kind, alarm });
  }
}
