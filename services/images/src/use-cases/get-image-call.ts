import type { Knex } from 'knex';
import { fail } from '@vision/shared/errors';
import type { Clock } from '../db/idempotency-keys.ts';
import { findImageCall } from '../db/image-calls.ts';
import type { ImageCall } from '../domain/image-call.ts';

/** @throws AppError not_found for a call of another subject as for one that never was. */
export async function getImageCall(
  { db, clock }: { db: Knex; clock: Clock },
  input: { subject: string; taskId: string },
): Promise<ImageCall> {
  const call = await findImageCall(db, clock, input);
  if (!call) throw fail.notFound('There is no such task.');
  return call;
}
