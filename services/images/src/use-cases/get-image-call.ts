import { fail } from '@vision/contracts/errors';
import { findImageCall } from '../db/image-calls.ts';
import type { ImageCall } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';

/** @throws AppError not_found for a call of another subject as for one that never was. */
export async function getImageCall(
  { db }: Pick<Deps, 'db'>,
  input: { subject: string; taskId: string },
): Promise<ImageCall> {
  const call = await findImageCall(db, input);
  if (!call) throw fail.notFound('There is no such task.', 'task_not_found');
  return call;
}
