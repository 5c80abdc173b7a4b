import { fail } from '@vision/shared/errors';
import { defaultLimits } from '@vision/shared/contracts/limits';
import type { Caller } from '@vision/shared/http/caller';
import type { Deps } from './deps.ts';

/**
 * What keeps new work out before its body is read: maintenance, an open breaker, a day that is used up. Requests with a known
 * key pass: they may be replays.
 * @throws AppError OP-TASK-BREAKER-OPEN, OP-QUOTA-DAILY-EXHAUSTED, OP-SYS-UNAVAILABLE.
 */
export async function assertAcceptsNew(
  { inference, quota }: Pick<Deps, 'inference' | 'quota'>,
  caller: Caller,
): Promise<void> {
  if (caller.maintenance) throw fail.maintenance();
  inference.assertAccepting('submit');
  const { video } = await quota.usage(caller.subject, caller.limits ?? defaultLimits);
  if (video.remaining < 1) throw fail.dailyExhausted({ ...video, requested: 1 });
}
