import type { FoundSegment } from '../../db/segments.ts';
import type { ShownFrame } from '../../domain/page-text.ts';
import { mayHold } from '../../domain/object-filter.ts';
import type { ObjectFilter } from '../../domain/object-filter.ts';
import { selectObjects } from '../../domain/stored-objects.ts';
import { openSegment } from './open-segment.ts';
import type { OpenDeps } from './open-segment.ts';
import type { PageFrame } from './read-page.ts';

/** Selects the shown objects of a frame. */
export interface Shown {
  minScore: number;
  objects: ObjectFilter;
  signal?: AbortSignal | undefined;
}

/**
 * Concurrently opened segments of one page: bounds its memory, and leaves request slots of the store to other pages.
 */
const OPEN_AT_ONCE = 8;

/** Whether a segment may hold shown objects, by the index. */
export const mayShow = ({ bestScore, labels }: FoundSegment, { minScore, objects }: Shown): boolean =>
  bestScore !== null && bestScore >= minScore && mayHold(objects, labels);

/**
 * The frames of a page with their shown objects. Segments without such an object are not opened; those in the object
 * store are fetched concurrently, up to a limit.
 * @throws AppError OP-SYS-UNAVAILABLE when the store does not return needed objects.
 */
export async function showFrames(deps: OpenDeps, frames: PageFrame[], wanted: Shown): Promise<ShownFrame[]> {
  const { minScore, objects: filter, signal } = wanted;
  const shown = frames.map((frame) => ({ ...frame, ...withoutSegment(frame, wanted) }));
  const needed = new Map<FoundSegment, { index: number; frame: ShownFrame }[]>();
  for (const frame of shown) {
    if (typeof frame.objects === 'string' || frame.total === 0) continue;
    const { segment, index } = frame.objects;
    if (!mayShow(segment, wanted)) continue;
    const known = needed.get(segment);
    if (known) known.push({ index, frame });
    else needed.set(segment, [{ index, frame }]);
  }
  const all = [...needed];
  for (let from = 0; from < all.length; from += OPEN_AT_ONCE)
    await Promise.all(
      all.slice(from, from + OPEN_AT_ONCE).map(async ([segment, inSegment]) => {
        const body = await openSegment(deps, segment, signal);
        for (const { index, frame } of inSegment) Object.assign(frame, body.select(index, minScore, filter));
      }),
    );
  return shown;
}

/** Shown objects of a frame whose segment is not opened. */
function withoutSegment({ objects }: PageFrame, { minScore, objects: filter }: Shown): { json: string; total: number } {
  if (typeof objects === 'string') return selectObjects(objects, minScore, filter);
  return { json: '[]', total: objects.segment.heads[objects.index]?.objects ?? 0 };
}
