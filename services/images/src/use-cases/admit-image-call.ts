import { defaultLimits } from '@vision/contracts/limits';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import { findKey } from '../db/idempotency-keys.ts';
import type { KeyId } from '../domain/image-call.ts';
import { dayExhausted } from './day-exhausted.ts';
import type { Deps } from './deps.ts';

/**
 * What keeps new calls out, as far as this process knows.
 * @throws AppError OP-TASK-BREAKER-OPEN under maintenance or with the breaker open, OP-SYS-UNAVAILABLE without a
 * backend.
 */
export function assertAccepting({ inference }: Pick<Deps, 'inference'>, { maintenance }: Caller): void {
  if (maintenance) throw fail.maintenance();
  inference.assertAccepting('detect');
}

/** Whether a new call of this caller passes everything that is asked before its body is read. */
export function isSurelyAdmitted(
  { inference, speculation }: Pick<Deps, 'inference' | 'speculation'>,
  { maintenance, subject }: Caller,
): boolean {
  return !maintenance && inference.breakerState('detect') === 'closed' && speculation.hasUnitsToSpare(subject);
}

/**
 * Refuses early when the day is used up; quota is not asked while more is known to be left than a call can take.
 * Whether it covers all images the reservation decides.
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
 * Checks a new call. A refusal does not count when the key is known by now: the same call has begun elsewhere
 * meanwhile, perhaps with the last units of the day, and this one is its replay. Undefined then.
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
