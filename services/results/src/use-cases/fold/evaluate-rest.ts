import type { Evaluation } from '../../domain/fold/evaluation.ts';
import { ENDED } from '../../domain/describe-source.ts';
import type { EvaluatedView } from '../../domain/task-view.ts';
import { isStillAt } from '../../db/folds.ts';
import type { Deps } from '../deps.ts';

type RestDeps = Pick<Deps, 'arrivals' | 'db' | 'settings' | 'signals'>;

/** A stream without frames for this time may be unavailable; its rules are evaluated again at the next interval. */
const SILENT_AFTER_MS = 5_000;
const AGAIN_MS = 5_000;
/** Interval between two evaluations of a task that has ended and whose frames have not all arrived. */
const ENDED_AGAIN_MS = 30_000;

interface Rest {
  taskId: string;
  /** Stored frames were evaluated up to this position. */
  position: number;
  evaluation: Evaluation;
  task: EvaluatedView;
  nowMs: number;
}

/**
 * Evaluates the time after the newest stored frame: the silence of a live stream, or the end of the task. Returns the
 * time until the next evaluation without a new frame.
 */
export async function evaluateRest(deps: RestDeps, rest: Rest): Promise<number | undefined> {
  const { taskId, position, evaluation, task, nowMs } = rest;
  if (evaluation.isIdle) return undefined;
  if (ENDED.has(task.status)) return evaluateEnd(deps, rest);
  if (task.kind !== 'stream' || !evaluation.waitsForSilence) return undefined;
  if ((evaluation.silentMs(nowMs) ?? Infinity) < SILENT_AFTER_MS) return AGAIN_MS;
  // Frames that wait in Kafka, or that were stored since these were read, rule out silence.
  const untilMs = await completeUntil(deps);
  if (untilMs !== undefined && (await isStillAt(deps.db, taskId, position))) evaluation.silence(untilMs);
  return AGAIN_MS;
}

/**
 * Without Kafka it is unknown whether frames wait there. Stored frames are folded nevertheless, and the query is
 * retried.
 */
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
    // After an outage of this service frames may wait in Kafka however long ago the task ended.
    const untilMs = await completeUntil(deps);
    const isComplete = untilMs !== undefined && untilMs >= (endedMs ?? 0);
    if (!isComplete || !(await isStillAt(deps.db, taskId, position))) return ENDED_AGAIN_MS;
  }
  if (kind === 'stream' && endedMs !== null) evaluation.silence(endedMs);
  const lastMs = evaluation.newest?.timeMs ?? 0;
  evaluation.end({ atMs: kind === 'stream' ? Math.max(lastMs, endedMs ?? 0) : lastMs, status });
  return undefined;
}
