import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { holdsUndecidedUnits } from '../../db/dead-drafts.ts';
import type { Deps } from '../deps.ts';

/** A dead create request is rolled back, and its unit refunded, within about this time. */
const UNDECIDED_RETRY_S = 10;

type DayState = Parameters<typeof fail.dailyExhausted>[0];

/**
 * The refusal of a create request that exceeds the daily quota. If other create requests of the subject hold units that
 * may be refunded, the client should retry soon instead of on the next day. `except` is the draft of this request.
 */
export async function dayExhausted(
  { db }: Pick<Deps, 'db'>,
  { subject, except }: { subject: string; except?: string },
  day: DayState,
): Promise<AppError> {
  const mayBeRefunded = await holdsUndecidedUnits(db, subject, except);
  return fail.dailyExhausted(day, mayBeRefunded ? UNDECIDED_RETRY_S : undefined);
}
