import { AppError, asAppError, fail } from '@vision/contracts/errors';
import type { SegmentObject } from '../../clients/segment-store.ts';
import { findCopy } from '../../db/segment-copies.ts';
import type { FoundSegment } from '../../db/segments.ts';
import { SegmentDamagedError } from '@vision/contracts/segments/bytes';
import type { SegmentBody } from '../../domain/segments/column-body.ts';
import { assertIntact, assertNamed } from '@vision/contracts/segments/pack';
import { openBody } from '../../domain/segments/segment.ts';
import type { Deps } from '../deps.ts';

export type OpenDeps = Pick<Deps, 'db' | 'signals' | 'store'>;

/** Opens the objects of a hot or cold segment. */
export async function openSegment(deps: OpenDeps, segment: FoundSegment, signal?: AbortSignal): Promise<SegmentBody> {
  try {
    return openBody(await bytesOf(deps, segment, signal), segment.heads);
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'not_found') throw error;
    if (!(error instanceof SegmentDamagedError) && asAppError(error) === undefined) throw error;
    deps.signals.segmentUnreadable(segment.taskId, segment, error);
    throw fail.sysUnavailable('segment_unreadable', error);
  }
}

async function bytesOf(deps: OpenDeps, segment: FoundSegment, signal: AbortSignal | undefined): Promise<Buffer> {
  const { objectKey, body, bytes, checksum } = segment;
  if (objectKey !== null) return bytesOfObject(deps, { objectKey, bytes, checksum }, signal);
  if (body === null) throw new SegmentDamagedError('it has neither a body nor an object');
  // Opening verifies the checksum in the header of the bytes.
  assertNamed(body, { bytes, checksum });
  return body;
}

/** The object; if it is damaged or missing, the copy that is retained until the object was read back. */
async function bytesOfObject(
  { db, store }: OpenDeps,
  object: SegmentObject,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  try {
    return await store.get(object, signal);
  } catch (error) {
    if (!(error instanceof SegmentDamagedError) && asAppError(error)?.kind !== 'not_found') throw error;
    const copy = await findCopy(db, object.objectKey);
    if (!copy) throw error;
    assertIntact(copy, object);
    return copy;
  }
}
