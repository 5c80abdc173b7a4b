import type { Evaluation } from '../../domain/fold/evaluation.ts';
import { ENDED } from '../../domain/describe-source.ts';
import type { EvaluatedView } from '../../domain/task-view.ts';
import { isStillAt } from '../../db/folds.ts';
import type { Deps } from '../deps.ts';

type RestDeps = Pick<Deps, 'arrivals' | 'db' | 'settings' | 'signals'>;

/** A stream whose frames are missing for so long may be away; its rules are looked at again after this time. */
const SILENT_AFTER_MS = 5_000;
const AGAIN_MS = 5_000;
/** Pause between two looks at a task that has ended and whose frames have not all arrived. */
const ENDED_AGAIN_MS = 30_000;

interface Rest {
  taskId: string;
  /** Up to here stored frames were evaluated. */
  position: number;
  evaluation: Evaluation;
  task: EvaluatedView;
  nowMs: number;
}

/**
 * Evaluates the time behind the newest stored frame: the silence of a live stream, or the end of the task. Returns when
 * that is to be done again although no frame was stored.
 */
export async function evaluateRest(deps: RestDeps, rest: Rest): Promise<number | undefined> {
  const { taskId, position, evaluation, task, nowMs } = rest;
  if (evaluation.isIdle) return undefined;
  if (ENDED.has(task.status)) return evaluateEnd(deps, rest);
  if (task.kind !== 'stream' || !evaluation.waitsForSilence) return undefined;
  if ((evaluation.silentMs(nowMs) ?? Infinity) < SILENT_AFTER_MS) return AGAIN_MS;
  // Frames that wait in Kafka are no silence, nor are those that were stored since these were read.
  const untilMs = await completeUntil(deps);
  if (untilMs !== undefined && (await isStillAt(deps.db, taskId, position))) evaluation.silence(untilMs);
  return AGAIN_MS;
}

/** Without Kafka it is not known whether frames wait there. They are folded all the same, and this is asked again. */
async function completeUntil({ arrivals, signals }: RestDeps): Promise<number | undefined> {
  try {
    return await arrivals.completeUntil();
  } catch (error) {
    signals.arrivalsUnknown(error);
    return undefined;
  }
}

async function evaluateEnd(deps: RestDeps, { taskId, position, evaluation, task }: Rest): Promise<number | undefined> {
  const { hasAllFrames, endedForMs, endedMs, status, kind } = task;
  if (!hasAllFrames) {
    if ((endedForMs ?? 0) < deps.settings.endPatienceMs) return ENDED_AGAIN_MS;
    // After an outage of this service the frames may wait in Kafka however long ago the task has ended.
    const untilMs = await completeUntil(deps);
    const isComplete = untilMs !== undefined && untilMs >= (endedMs ?? 0);
    if (!isComplete || !(await isStillAt(deps.db, taskId, position))) return ENDED_AGAIN_MS;
  }
  if (kind === 'stream' && endedMs !== null) evaluation.silence(endedMs);
  const lastMs = evaluation.newest?.timeMs ?? 0;
  evaluation.end({ atMs: kind === 'stream' ? Math.max(lastMs, endedMs ?? 0) : lastMs, status });
  return undefined;
}
