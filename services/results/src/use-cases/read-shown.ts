import { effectiveScore } from '../domain/result-query.ts';
import type { Selection } from '../domain/result-query.ts';
import { readPage } from './read-page.ts';
import type { Reading } from './read-page.ts';
import { readSelected } from './read-selected.ts';
import type { ShownPage } from './read-selected.ts';
import { showFrames } from './show-frames.ts';
import type { OpenDeps } from './open-segment.ts';

interface ShownReading extends Reading {
  selection: Selection;
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal | undefined;
}

/** The next frames of a task with the objects that a reader selects. */
export async function readShown(
  deps: OpenDeps,
  taskId: string,
  { selection, signal, ...reading }: ShownReading,
): Promise<ShownPage> {
  const { minScore, objects, times, skipEmpty } = selection;
  const { lower_bound: lowerBound, default_min_score: defaultMinScore } = reading.task;
  const shown = { minScore: effectiveScore(minScore, { lowerBound, defaultMinScore }), objects, signal };
  if (times || skipEmpty) return readSelected(deps, taskId, { ...reading, search: { ...shown, times, skipEmpty } });
  const page = await readPage(deps, taskId, reading);
  return { ...page, frames: await showFrames(deps, page.frames, shown) };
}
