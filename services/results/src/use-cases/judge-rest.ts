import type { Judging } from '../domain/fold/judging.ts';
import { ENDED } from '../domain/describe-source.ts';
import type { JudgedView } from '../domain/task-view.ts';
import type { Deps } from './deps.ts';

type RestDeps = Pick<Deps, 'arrivals' | 'settings'>;

/** A stream whose frames are missing for so long may be away; its rules are looked at again after this time. */
const SILENT_AFTER_MS = 5_000;
const AGAIN_MS = 5_000;
/** Pause between two looks at a task that has ended and whose frames have not all arrived. */
const ENDED_AGAIN_MS = 30_000;

interface Rest {
  judging: Judging;
  task: JudgedView;
  nowMs: number;
}

/**
 * Judges the time behind the newest stored frame: the silence of a live stream, or the end of the task. Returns when
 * that is to be done again although no frame was stored.
 */
export async function judgeRest(deps: RestDeps, { judging, task, nowMs }: Rest): Promise<number | undefined> {
  if (judging.isIdle) return undefined;
  if (ENDED.has(task.status)) return judgeEnd(deps, { judging, task });
  if (task.kind !== 'stream' || !judging.waitsForSilence) return undefined;
  const lastMs = judging.newest?.timeMs;
  if (lastMs !== undefined && nowMs - lastMs < SILENT_AFTER_MS) return AGAIN_MS;
  // Frames that wait in Kafka are no silence.
  const untilMs = await deps.arrivals.completeUntil();
  if (untilMs !== undefined) judging.silence(untilMs);
  return AGAIN_MS;
}

function judgeEnd(
  { settings }: Pick<Deps, 'settings'>,
  { judging, task }: Pick<Rest, 'judging' | 'task'>,
): number | undefined {
  const { hasAllFrames, endedForMs, endedMs, status, kind } = task;
  if (!hasAllFrames && (endedForMs ?? 0) < settings.endPatienceMs) return ENDED_AGAIN_MS;
  const lastMs = judging.newest?.timeMs ?? 0;
  judging.end({ atMs: kind === 'stream' ? Math.max(lastMs, endedMs ?? 0) : lastMs, status });
  return undefined;
}
