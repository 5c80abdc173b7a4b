import type { Progress } from '../domain/cursor.ts';
import { foldFrames } from '../domain/fold/state.ts';
import type { FoldedFrame, FoldState } from '../domain/fold/state.ts';
import type { SegmentBody } from '../domain/segments/column-body.ts';
import { eachStoredObject } from '../domain/stored-objects.ts';
import type { FoundSegment } from '../db/segments.ts';
import { openSegment } from './open-segment.ts';
import type { OpenDeps } from './open-segment.ts';
import { readPage } from './read-page.ts';
import type { FrameState, PageFrame } from './read-page.ts';

const PAGE = 500;

export interface FoldedPages {
  progress: Progress;
  /** Frames are left that were stored before the state of the task was read. */
  hasMore: boolean;
  frames: number;
}

/** Adds the frames behind `from` to the state, in place, `pages` pages of them at most. */
export async function foldPages(
  deps: OpenDeps,
  taskId: string,
  { task, state, from, pages }: { task: FrameState; state: FoldState; from: Progress; pages: number },
): Promise<FoldedPages> {
  let progress = from;
  let frames = 0;
  for (let left = pages; left > 0; left -= 1) {
    const page = await readPage(deps, taskId, { task, from: progress, limit: PAGE });
    foldFrames(state, await openFrames(deps, page.frames));
    frames += page.frames.length;
    progress = page.progress;
    if (!page.hasMore) return { progress, hasMore: false, frames };
  }
  return { progress, hasMore: true, frames };
}

/** Each segment is opened once: its objects are read in place, not made into objects of their own. */
async function openFrames(deps: OpenDeps, frames: PageFrame[]): Promise<FoldedFrame[]> {
  const bodies = new Map<FoundSegment, SegmentBody>();
  for (const { objects } of frames)
    if (typeof objects !== 'string' && !bodies.has(objects.segment) && objects.segment.bestScore !== null)
      bodies.set(objects.segment, await openSegment(deps, objects.segment));
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
