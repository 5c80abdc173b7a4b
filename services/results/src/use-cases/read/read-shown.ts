import { dayOfTask } from '@vision/contracts/ids';
import { tracksOfIds } from '../../db/tracks.ts';
import { effectiveScore } from '../../domain/result-query.ts';
import type { TrackFacts } from '../../domain/fold/tracks.ts';
import type { Selection, TimeRange } from '../../domain/result-query.ts';
import { readFold } from './read-fold.ts';
import type { ReadFoldDeps } from './read-fold.ts';
import type { OpenDeps } from './open-segment.ts';
import { readPage } from './read-page.ts';
import type { Reading } from './read-page.ts';
import { readSelected } from './read-selected.ts';
import type { ShownPage } from './read-selected.ts';
import { showFrames } from './show-frames.ts';

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

/** A selection with the same frames up to a position of the task, and possibly fewer to search. */
export interface Narrowed {
  selection: Selection;
  position: number;
}

const NEVER: TimeRange = { fromMs: Number.MAX_SAFE_INTEGER, toMs: Number.MIN_SAFE_INTEGER };

/**
 * Narrows a search for a track to the times of that track. While not every frame up to `position` is folded, nothing is
 * narrowed, and the returned position is -1.
 */
export async function narrowToTrack(
  deps: ReadFoldDeps,
  taskId: string,
  { selection, position }: Narrowed,
): Promise<Narrowed> {
  const { times, skipEmpty, objects } = selection;
  const { trackId } = objects;
  if (!skipEmpty || trackId === undefined) return { selection, position: Infinity };
  return readFold(deps, taskId, async (view, db) => {
    if (!view.isWhole || view.position < position) return { selection, position: -1 };
    const known = view.tracks.get(trackId);
    const [track] = known ? [known] : await tracksOfIds(db, { day: dayOfTask(taskId) ?? '', taskId }, [trackId]);
    const within = track ? overlap(times, track) : NEVER;
    return { selection: { ...selection, times: within }, position: view.position };
  });
}

const overlap = (
  { fromMs, toMs }: TimeRange = { fromMs: -Infinity, toMs: Infinity },
  { first, last }: TrackFacts,
): TimeRange => ({ fromMs: Math.max(fromMs, first.timeMs), toMs: Math.min(toMs, last.timeMs + 1) });
