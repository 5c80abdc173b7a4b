import { systemClock } from '@vision/streams/budget';
import type { BudgetUsage } from '@vision/streams/budget';

const { now } = systemClock(new AbortController().signal);

/** What a stream has used that may be slowed for half a second more. It has saved all the bytes and parts it can. */
export function nearlySpent(): { last: BudgetUsage } {
  return { last: { bytesPaidAt: 0, partsPaidAt: 0, slowed: [[Math.floor(now() / 5_000), 59_500]] } };
}
