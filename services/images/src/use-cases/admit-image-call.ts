import { defaultLimits } from '@vision/contracts/limits';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import { findKey } from '../db/idempotency-keys.ts';
import type { KeyId } from '../domain/image-call.ts';
import { dayExhausted } from './day-exhausted.ts';
import type { Deps } from './deps.ts';

/**
 * Refuses new calls, as far as this process knows the reasons.
 * @throws AppError OP-TASK-BREAKER-OPEN under maintenance or with the breaker open, OP-SYS-UNAVAILABLE without a
 * backend.
 */
export function assertAccepting({ inference }: Pick<Deps, 'inference'>, { maintenance }: Caller): void {
  if (maintenance) throw fail.maintenance();
  inference.assertAccepting('detect');
}

/** Whether a new call of this caller passes every check that comes before its body is read. */
export function isSurelyAdmitted(
  { inference, speculation }: Pick<Deps, 'inference' | 'speculation'>,
  { maintenance, subject }: Caller,
): boolean {
  return !maintenance && inference.breakerState('detect') === 'closed' && speculation.hasUnitsToSpare(subject);
}

/**
 * Refuses early when the daily quota is used up; skips the request to quota while more units are known to be left than
 * a call can take. The reservation later decides whether the units cover all images.
 * @throws AppError OP-QUOTA-DAILY-EXHAUSTED.
 */
export async function assertUnitsLeft(
  deps: Pick<Deps, 'db' | 'quota' | 'speculation'>,
  { subject, limits }: Caller,
): Promise<void> {
  const { quota, speculation } = deps;
  if (speculation.hasUnitsToSpare(subject)) return;
  const { image } = await quota.usage(subject, limits ?? defaultLimits);
  speculation.noteUnitsLeft(subject, image.remaining);
  if (image.remaining < 1) throw await dayExhausted(deps, { subject }, { ...image, requested: 1 });
}

/**
 * Checks a new call. Returns undefined instead of a refusal when the key is known by now: the same call has begun
 * elsewhere meanwhile, perhaps with the last units of the day, and this one is its replay.
 */
export async function unlessReplay<T>(
  { db }: Pick<Deps, 'db'>,
  id: KeyId,
  checking: Promise<T>,
): Promise<T | undefined> {
  try {
    return await checking;
  } catch (refusal) {
    if (!(await findKey(db, id).catch(() => undefined))) throw refusal;
    return undefined;
  }
}
