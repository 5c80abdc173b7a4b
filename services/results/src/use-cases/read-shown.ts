import { dayOfTask } from '@vision/contracts/ids';
import { tracksOfIds } from '../db/tracks.ts';
import { effectiveScore } from '../domain/result-query.ts';
import type { Selection, TimeRange } from '../domain/result-query.ts';
import { readFold } from './read-fold.ts';
import type { ReadFoldDeps } from './read-fold.ts';
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
  deps: ReadFoldDeps,
  taskId: string,
  { selection, signal, ...reading }: ShownReading,
): Promise<ShownPage> {
  const { minScore, objects, times, skipEmpty } = selection;
  const { lower_bound: lowerBound, default_min_score: defaultMinScore } = reading.task;
  const shown = { minScore: effectiveScore(minScore, { lowerBound, defaultMinScore }), objects, signal };
  if (times || skipEmpty) {
    const isOfTrack = skipEmpty && objects.trackId !== undefined;
    const within = isOfTrack ? await timesOfTrack(deps, taskId, { selection, position: reading.task.position }) : times;
    return readSelected(deps, taskId, { ...reading, search: { ...shown, times: within, skipEmpty } });
  }
  const page = await readPage(deps, taskId, reading);
  return { ...page, frames: await showFrames(deps, page.frames, shown) };
}

const NEVER: TimeRange = { fromMs: Number.MAX_SAFE_INTEGER, toMs: Number.MIN_SAFE_INTEGER };

/** The part of the times of a search in which its track is seen; all of them while not every frame is folded. */
async function timesOfTrack(
  deps: ReadFoldDeps,
  taskId: string,
  { selection, position }: { selection: Selection; position: number },
): Promise<TimeRange | undefined> {
  const { times } = selection;
  const { trackId = '' } = selection.objects;
  return readFold(deps, taskId, async (view, db) => {
    if (!view.isWhole || view.position < position) return times;
    const known = view.tracks.get(trackId);
    const [track] = known ? [known] : await tracksOfIds(db, { day: dayOfTask(taskId) ?? '', taskId }, [trackId]);
    if (!track) return NEVER;
    const { fromMs = track.first.timeMs, toMs = Infinity } = times ?? {};
    return { fromMs: Math.max(fromMs, track.first.timeMs), toMs: Math.min(toMs, track.last.timeMs + 1) };
  });
}
