import type { AlarmKind } from '@vision/contracts/alarms';
import { pack, unpack } from '@vision/contracts/segments/pack';
import type { MinuteCount } from './rules/minute-limit.ts';
import type { FrameRef, RuleState } from './rules/state.ts';

/** State of one rule in a task. */
export interface RuleProgress {
  id: string;
  version: number;
  kind: AlarmKind;
  /** Frames up to this position were stored before the rule was. */
  from: number;
  state: RuleState;
}

/** State of the rules of a task. */
export interface EvaluationState {
  /** The end of the task was evaluated: no rule raises further alarms. */
  hasEnded: boolean;
  rules: RuleProgress[];
  /** The newest evaluated frame; absent when an earlier release stored the state, or no frame was evaluated. */
  newest?: FrameRef | undefined;
  /** When it was evaluated, by the clock of the database; a stored key, absent from states of an earlier release. */
  judgedMs?: number | undefined;
  /** Crossings that raised an alarm in one minute of frame times; absent before the first one. */
  crossings?: MinuteCount | undefined;
  /** The same for alarms of other conditions on objects. */
  levels?: MinuteCount | undefined;
}

export const emptyEvaluation = (): EvaluationState => ({ hasEnded: false, rules: [] });

/** The state as bytes; null when it is empty. */
export const encodeEvaluation = (state: EvaluationState): Buffer | null =>
  state.hasEnded || state.rules.length > 0 ? pack(Buffer.from(JSON.stringify(state)), 'fast') : null;

/** @throws SegmentDamagedError for bytes that are not from `encodeEvaluation`. */
export const decodeEvaluation = (bytes: Buffer | null): EvaluationState =>
  bytes ? (JSON.parse(unpack(bytes).toString()) as EvaluationState) : emptyEvaluation();
