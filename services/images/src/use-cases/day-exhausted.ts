import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { countUndecidedUnits } from '../db/idempotency-keys.ts';
import type { Deps } from './deps.ts';

/** Image calls end within seconds, and dead ones are rolled back within about this time. */
const UNDECIDED_RETRY_S = 10;

type DayState = Parameters<typeof fail.dailyExhausted>[0];

/**
 * The refusal of a call that exceeds the daily quota. If a refund of other unfinished calls could cover it, the client
 * should retry soon instead of on the next day. `except` is the task id of this call.
 */
export async function dayExhausted(
  { db }: Pick<Deps, 'db'>,
  owner: { subject: string; except?: string },
  day: DayState,
): Promise<AppError> {
  const undecided = await countUndecidedUnits(db, owner);
  const isCovered = undecided > 0 && day.limit - day.used + undecided >= day.requested;
  return fail.dailyExhausted(day, isCovered ? UNDECIDED_RETRY_S : undefined);
}
