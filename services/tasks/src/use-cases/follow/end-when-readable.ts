import { createGate } from '@vision/shared/async/gate';
import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { passOverMoved } from '../../db/move-task.ts';
import { canBeRead } from '../../domain/job-progress.ts';
import type { AwaitedEnd } from './awaited-ends.ts';
import type { Deps, MoveDeps } from '../deps.ts';
import { moveNow } from './move-now.ts';

type EndDeps = MoveDeps & Pick<Deps, 'awaitedEnds' | 'results' | 'loops'>;

/** Maximum number of ids in one request of the contract with results. */
const BATCH = 100;
const CONCURRENCY = 8;

/**
 * Ends tasks whose end-of-stream marker is late, once their published frames are readable: queries results for many
 * tasks in one call. Runs beside the reconciler, which adds tasks that are not readable yet again.
 * @returns the number of queried tasks. @throws AppError when results does not answer.
 */
export async function endWhenReadable(deps: EndDeps): Promise<number> {
  const ends = deps.awaitedEnds.take(BATCH);
  if (!deps.results || ends.length === 0) return 0;
  const stored = await deps.results.countFrames(ends.map(({ task }) => task.taskId));
  const readable = ends.filter(({ task, verdict }) => {
    const frames = stored.get(task.taskId);
    return frames !== undefined && canBeRead(verdict.awaited, frames);
  });
  const gate = createGate({ concurrency: CONCURRENCY });
  await Promise.all(readable.map((awaited) => gate.run(() => end(deps, awaited))));
  return ends.length;
}

async function end(deps: EndDeps, { task, verdict }: AwaitedEnd): Promise<void> {
  await deps.loops.of('readability').attempt(task.taskId, () =>
    // If the task has moved, its end-of-stream marker arrived meanwhile, or another replica was first.
    withStoredTrace(task.trace, () => moveNow(deps, task, verdict.change)).catch(passOverMoved),
  );
}
