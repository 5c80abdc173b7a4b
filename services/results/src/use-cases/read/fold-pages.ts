import type { Progress } from '../../domain/cursor.ts';
import type { Evaluation } from '../../domain/fold/evaluation.ts';
import { foldFrames } from '../../domain/fold/state.ts';
import type { FoldedFrame, FoldState } from '../../domain/fold/state.ts';
import type { SegmentBody } from '../../domain/segments/column-body.ts';
import type { Pace } from '../../domain/fold/pace.ts';
import type { FrameState } from '../../domain/task-view.ts';
import { eachStoredObject } from '../../domain/stored-objects.ts';
import type { FoundSegment } from '../../db/segments.ts';
import { openSegment } from './open-segment.ts';
import type { OpenDeps } from './open-segment.ts';
import { readPage } from './read-page.ts';
import type { PageFrame } from './read-page.ts';

const PAGE = 500;

export interface FoldedPages {
  progress: Progress;
  /** More frames were stored before the state of the task was read. */
  hasMore: boolean;
  frames: number;
}

interface FoldRequest {
  task: FrameState;
  state: FoldState;
  pace: Pace;
  from: Progress;
  pages: number;
  /** The alarm rules of the task, which receive the same frames. */
  evaluation?: Evaluation | undefined;
}

/** Adds the frames after `from` to the state, in place, at most `pages` pages. */
export async function foldPages(
  deps: OpenDeps,
  taskId: string,
  { task, state, pace, from, pages, evaluation }: FoldRequest,
): Promise<FoldedPages> {
  let progress = from;
  let frames = 0;
  for (let left = pages; left > 0; left -= 1) {
    const page = await readPage(deps, taskId, { task, from: progress, limit: PAGE });
    const opened = await openFrames(deps, page.frames);
    const watched = evaluation?.watch(opened) ?? opened;
    foldFrames(state, watched, pace);
    evaluation?.add(watched);
    frames += page.frames.length;
    progress = page.progress;
    if (!page.hasMore) return { progress, hasMore: false, frames };
  }
  return { progress, hasMore: true, frames };
}

/** Selects the frames whose objects are needed. */
interface Opening {
  /** Whether the objects of a segment are needed; others are omitted. */
  isNeeded?: (segment: FoundSegment) => boolean;
  signal?: AbortSignal | undefined;
}

/** Segments that are opened at the same time. */
const OPEN_AT_ONCE = 8;

/** Each segment is opened once: its objects are read in place, without creating an object for each. */
export async function openFrames(
  deps: OpenDeps,
  frames: PageFrame[],
  { isNeeded = () => true, signal }: Opening = {},
): Promise<FoldedFrame[]> {
  const segments = new Set<FoundSegment>();
  for (const { objects } of frames)
    if (typeof objects !== 'string' && objects.segment.bestScore !== null && isNeeded(objects.segment))
      segments.add(objects.segment);
  const bodies = new Map<FoundSegment, SegmentBody>();
  const all = [...segments];
  for (let from = 0; from < all.length; from += OPEN_AT_ONCE)
    await Promise.all(
      all.slice(from, from + OPEN_AT_ONCE).map(async (segment) => {
        bodies.set(segment, await openSegment(deps, segment, signal));
      }),
    );
  return frames.map(({ seq, position, frameTimeMs: timeMs, objects }) => ({
    seq,
    position,
    timeMs,
    eachObject: (take) => {
      if (typeof objects === 'string') eachStoredObject(objects, take);
      else bodies.get(objects.segment)?.eachObject(objects.index, take);
    },
  }));
}
