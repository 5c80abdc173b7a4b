import type { QuotaKind, UsageReply } from '@vision/contracts/quota';
import { usedToday } from '../db/usage.ts';
import { resetsAt } from '../domain/quota-day.ts';
import type { Deps } from './deps.ts';

/** Today's usage of a subject, and the remainder of these limits. */
export async function getUsage(
  { db }: Pick<Deps, 'db'>,
  subject: string,
  limits: Record<QuotaKind, number>,
): Promise<UsageReply> {
  const used = await usedToday(db, subject);
  const usageOf = (kind: QuotaKind) => ({
    limit: limits[kind],
    used: used[kind],
    // An operator may lower a limit below the usage.
    remaining: Math.max(0, limits[kind] - used[kind]),
    resets_at: resetsAt(used.day),
  });
  return { video: usageOf('video'), image: usageOf('image') };
}
