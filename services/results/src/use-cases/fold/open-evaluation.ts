import type { FoldProgress } from '../../db/folds.ts';
import { Evaluation } from '../../domain/fold/evaluation.ts';
import { decodeEvaluation } from '../../domain/fold/evaluation-state.ts';
import type { Pace } from '../../domain/fold/pace.ts';
import type { FoldState } from '../../domain/fold/state.ts';
import type { EvaluatedView } from '../../domain/task-view.ts';
import { createdAtMsOf } from '@vision/contracts/ids';
import type { Deps } from '../deps.ts';

/** The evaluation of the rules of a task. */
export interface OpenEvaluation {
  evaluation: Evaluation;
  task: EvaluatedView;
  ruleSet: number;
}

/** Facts of a task whose frames are about to be folded. */
interface FoldStart {
  found: FoldProgress;
  state: FoldState;
  pace: Pace;
}

/** Opens the rules of a task; undefined when the task is unknown, or has no rules and had none. */
export async function openEvaluation(
  { rules }: Pick<Deps, 'rules'>,
  taskId: string,
  { found, state, pace }: FoldStart,
): Promise<OpenEvaluation | undefined> {
  const { task, fold, ruleSet: before, stored, nowMs } = found;
  if (!task || task.kind === null) return undefined;
  if (!before && !fold?.rules) return undefined;
  const { ruleSet, prepared } = before
    ? await rules.of({ taskId, task, pace, ruleSet: before })
    : { ruleSet: 0, prepared: [] };
  const evaluation = new Evaluation({
    prepared,
    state: decodeEvaluation(fold?.rules ?? null),
    position: stored.position,
    newest: state.newestMs === undefined || !fold ? undefined : { seq: fold.seq, timeMs: state.newestMs },
    createdMs: createdAtMsOf(taskId),
    endedMs: task.endedMs ?? undefined,
    nowMs,
  });
  return { evaluation, task, ruleSet };
}
