import type { AlarmKind } from '@vision/contracts/alarms';
import type { RuleWhen } from '@vision/contracts/alarm-rules';
import type { RuleProgress } from './evaluation-state.ts';
import { evaluatorOf } from './rules.ts';
import type { Evaluator } from './rules.ts';
import { newRuleState } from './rules/state.ts';
import type { EvaluatedTask, Rule, RuleState } from './rules/state.ts';

/** A rule that applies to a task. */
export interface TaskRule extends Rule {
  /** When this version of it was stored, Unix milliseconds. */
  storedMs: number;
}

/** A rule with its evaluator for one task. */
export interface PreparedRule {
  rule: TaskRule;
  evaluator: Evaluator;
}

/** Prepares rules for a task; the result is valid until the rules or the task change. */
export function prepareRules(rules: readonly TaskRule[], task: EvaluatedTask): PreparedRule[] {
  const lines = rules.filter(({ when }) => when.kind === 'line_crossed').length;
  return rules.map((rule) => ({ rule, evaluator: evaluatorOf(rule, { ...task, lines }) }));
}

/** A rule that is evaluated in one task, and its progress. */
export interface ActiveRule extends RuleProgress {
  evaluator: Evaluator;
  /** Labels of frames that concern the rule while it is at rest; undefined: every frame does. */
  labels: ReadonlySet<string> | undefined;
  isScheduled: boolean;
}

/** The task in which a rule is evaluated; times are Unix milliseconds. */
interface TaskFacts {
  /** Position of its newest stored frame. */
  position: number;
  createdMs: number;
  endedMs: number | undefined;
}

/**
 * Resumes the rule, or starts it where its version begins to apply; undefined when it was stored after the end.
 * @param known by id and version
 */
export function activeRule(
  { rule, evaluator }: PreparedRule,
  known: ReadonlyMap<string, RuleProgress>,
  { position, createdMs, endedMs }: TaskFacts,
): ActiveRule[] {
  const { id, version, when } = rule;
  const { kind } = when;
  const active = { evaluator, labels: labelsOf(when), isScheduled: rule.schedule !== undefined };
  const found = known.get(`${id}/${version}`);
  if (found) return [{ ...found, state: { ...newRuleState(), ...found.state }, ...active }];
  if (endedMs !== undefined && rule.storedMs >= endedMs) return [];
  // A version begins where the previous one ends.
  const before = [...known.values()].filter((other) => other.id === id);
  const from = before.length > 0 || rule.storedMs < createdMs ? 0 : position;
  return [{ id, version, kind, from, state: silenceOf(kind, before) ?? newRuleState(), ...active }];
}

/** An outage continues across edits: the new version keeps the open alarm and raises no second one. */
function silenceOf(kind: AlarmKind, before: readonly RuleProgress[]): RuleState | undefined {
  if (kind !== 'source_down') return undefined;
  const down = before.find((other) => other.kind === kind && other.state.open !== undefined);
  if (!down) return undefined;
  const state = structuredClone(down.state);
  down.state.open = undefined;
  return state;
}

/** Absence and silence are detected in frames without the objects, the end of a task in no frame. */
function labelsOf(when: RuleWhen): ReadonlySet<string> | undefined {
  if (when.kind === 'object_present' || when.kind === 'line_crossed') return new Set(when.labels);
  return when.kind === 'task_ended' ? new Set() : undefined;
}

/** Whether a frame without its objects changes the state of a rule. */
export const isAtWork = ({ state }: RuleProgress): boolean =>
  state.open !== undefined || state.pending !== undefined || state.holds;

/** Whether a frame with objects of these labels changes the state of a rule. */
export function isConcerned(rule: ActiveRule, byLabel: ReadonlyMap<string, unknown>): boolean {
  if (rule.labels === undefined || isAtWork(rule)) return true;
  for (const label of rule.labels) if (byLabel.has(label)) return true;
  return false;
}
