import { defaultLimits } from '@vision/contracts/limits';
import type { UsageReply } from '@vision/contracts/quota';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { CreateDeps } from '../deps.ts';
import { dayExhausted } from './refuse-exhausted.ts';

/**
 * Refuses all new work during maintenance and while the breaker is open.
 * @throws AppError OP-TASK-BREAKER-OPEN, OP-SYS-UNAVAILABLE.
 */
export function assertOpen({ inference }: Pick<CreateDeps, 'inference'>, { maintenance }: Caller): void {
  if (maintenance) throw fail.maintenance();
  inference.assertAccepting('submit');
}

/**
 * Refuses new work during maintenance, while the breaker is open, and when the daily quota is used up. Replays are not
 * affected.
 * @throws AppError OP-TASK-BREAKER-OPEN, OP-QUOTA-DAILY-EXHAUSTED, OP-SYS-UNAVAILABLE.
 */
export async function assertAcceptsNew(deps: CreateDeps, caller: Caller): Promise<void> {
  assertOpen(deps, caller);
  let today = await videoUnits(deps, caller);
  // Units of abandoned create requests are refunded first: the quota counts as used up only if that does not suffice.
  if (today.remaining < 1 && (await deps.refundDeadCreates(caller.subject)) > 0) today = await videoUnits(deps, caller);
  if (today.remaining < 1) throw await dayExhausted(deps, caller, { ...today, requested: 1 });
}

async function videoUnits({ quota }: CreateDeps, { subject, limits }: Caller): Promise<UsageReply['video']> {
  return (await quota.usage(subject, limits ?? defaultLimits)).video;
}
