import { findImages } from '../db/image-calls.ts';
import type { ImageCall, ImageEntry } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';
import { getImageCall } from './get-image-call.ts';

export interface StoredDetection {
  call: ImageCall;
  entries: ImageEntry[];
}

/**
 * A finished image call with what was found on its images.
 * @throws AppError not_found for a call of another subject as for one that never was.
 */
export async function getImageDetection(
  { db }: Pick<Deps, 'db'>,
  id: { subject: string; taskId: string },
): Promise<StoredDetection> {
  // The images first: they are removed with their call, so a call that is still there has all of them.
  const entries = await findImages(db, id.taskId);
  return { call: await getImageCall({ db }, id), entries };
}
