import { findImages } from '../db/image-calls.ts';
import type { ImageCall, ImageEntry } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';
import { getImageCall } from './get-image-call.ts';

export interface StoredDetection {
  call: ImageCall;
  entries: ImageEntry[];
}

/**
 * A finished image call with its detections.
 * @throws AppError not_found for an unknown call and for a call of another subject alike.
 */
export async function getImageDetection(
  { db }: Pick<Deps, 'db'>,
  id: { subject: string; taskId: string },
): Promise<StoredDetection> {
  // Images are read first: they are removed with their call, so a call that still exists has all of them.
  const entries = await findImages(db, id.taskId);
  return { call: await getImageCall({ db }, id), entries };
}
