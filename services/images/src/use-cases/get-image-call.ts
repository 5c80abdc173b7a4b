import { fail } from '@vision/contracts/errors';
import { findImageCall } from '../db/image-calls.ts';
import type { ImageCall } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';

/** The error for an id that names no image call of the caller; it may name a video task. */
export const imageCallNotFound = () => fail.notFound('There is no image call with this task_id.', 'task_not_found');

/** @throws AppError not_found for an unknown call and for a call of another subject alike. */
export async function getImageCall(
  { db }: Pick<Deps, 'db'>,
  input: { subject: string; taskId: string },
): Promise<ImageCall> {
  const call = await findImageCall(db, input);
  if (!call) throw imageCallNotFound();
  return call;
}
