import type { Judging } from '../../domain/fold/judging.ts';
import { ENDED } from '../../domain/describe-source.ts';
import type { JudgedView } from '../../domain/task-view.ts';
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
  /** Up to here stored frames were judged. */
  position: number;
  judging: Judging;
  task: JudgedView;
  nowMs: number;
}

/**
 * Judges the time behind the newest stored frame: the silence of a live stream, or the end of the task. Returns when
 * that is to be done again although no frame was stored.
 */
export async function judgeRest(deps: RestDeps, rest: Rest): Promise<number | undefined> {
  const { taskId, position, judging, task, nowMs } = rest;
  if (judging.isIdle) return undefined;
  if (ENDED.has(task.status)) return judgeEnd(deps, rest);
  if (task.kind !== 'stream' || !judging.waitsForSilence) return undefined;
  if ((judging.silentMs(nowMs) ?? Infinity) < SILENT_AFTER_MS) return AGAIN_MS;
  // Frames that wait in Kafka are no silence, nor are those that were stored since these were read.
  const untilMs = await completeUntil(deps);
  if (untilMs !== undefined && (await isStillAt(deps.db, taskId, position))) judging.silence(untilMs);
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

async function judgeEnd(deps: RestDeps, { taskId, position, judging, task }: Rest): Promise<number | undefined> {
  const { hasAllFrames, endedForMs, endedMs, status, kind } = task;
  if (!hasAllFrames) {
    if ((endedForMs ?? 0) < deps.settings.endPatienceMs) return ENDED_AGAIN_MS;
    // After an outage of this service the frames may wait in Kafka however long ago the task has ended.
    const untilMs = await completeUntil(deps);
    const isComplete = untilMs !== undefined && untilMs >= (endedMs ?? 0);
    if (!isComplete || !(await isStillAt(deps.db, taskId, position))) return ENDED_AGAIN_MS;
  }
  if (kind === 'stream' && endedMs !== null) judging.silence(endedMs);
  const lastMs = judging.newest?.timeMs ?? 0;
  judging.end({ atMs: kind === 'stream' ? Math.max(lastMs, endedMs ?? 0) : lastMs, status });
  return undefined;
}
