import { AppError, asAppError, fail } from '@vision/shared/errors';
import type { FoundSegment } from '../db/segments.ts';
import type { ShownFrame } from '../domain/page-text.ts';
import { SegmentDamagedError } from '../domain/segments/bytes.ts';
import type { SegmentBody } from '../domain/segments/decode-body.ts';
import { checksumOf } from '../domain/segments/pack.ts';
import { openBody } from '../domain/segments/segment.ts';
import { selectObjects } from '../domain/stored-objects.ts';
import type { Deps } from './deps.ts';
import type { PageFrame } from './read-page.ts';

type ShowDeps = Pick<Deps, 'signals' | 'store'>;

/**
 * The frames of a page with their objects at or above a score. Segments without such an object are not opened; those
 * that are in the object store are fetched at the same time.
 * @throws AppError OP-SYS-UNAVAILABLE when objects are needed that the store does not give.
 */
export async function showFrames(deps: ShowDeps, frames: PageFrame[], minScore: number): Promise<ShownFrame[]> {
  const needed = new Set<FoundSegment>();
  for (const { objects } of frames) {
    if (typeof objects === 'string') continue;
    const { bestScore, heads } = objects.segment;
    if (bestScore !== null && bestScore >= minScore && heads[objects.index]?.objects !== 0) needed.add(objects.segment);
  }
  const opened = await Promise.all([...needed].map(async (one) => [one, await open(deps, one)] as const));
  const bodies = new Map(opened);
  return frames.map((frame) => ({ ...frame, ...selectFrom(frame, bodies, minScore) }));
}

function selectFrom(
  { objects }: PageFrame,
  bodies: ReadonlyMap<FoundSegment, SegmentBody>,
  minScore: number,
): { json: string; total: number } {
  if (typeof objects === 'string') return selectObjects(objects, minScore);
  const { segment, index } = objects;
  return bodies.get(segment)?.select(index, minScore) ?? { json: '[]', total: segment.heads[index]?.objects ?? 0 };
}

/** Opens the objects of a segment, wherever they are. */
async function open({ store, signals }: ShowDeps, segment: FoundSegment): Promise<SegmentBody> {
  const { taskId, objectKey, body, bytes, checksum, heads } = segment;
  try {
    const packed = objectKey === null ? body : await store.get(objectKey, bytes);
    if (packed === null || packed.length !== bytes || checksumOf(packed) !== checksum)
      throw new SegmentDamagedError('it is not what the index says');
    return openBody(packed, heads);
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'not_found') throw error;
    if (!(error instanceof SegmentDamagedError) && asAppError(error) === undefined) throw error;
    signals.segmentUnreadable(taskId, segment, error);
    throw fail.sysUnavailable('segment_unreadable', error);
  }
}
