import type { Knex } from 'knex';
import type { UsageReply } from '@vision/shared/contracts/quota';
import { usedToday } from '../db/usage.ts';
import { resetsAt } from '../domain/quota-day.ts';

export async function usage(
  { db }: { db: Knex },
  subject: string,
  limits: { video: number; image: number },
): Promise<UsageReply> {
  const today = await usedToday(db, subject);
  const of = (kind: 'video' | 'image') => ({
    limit: limits[kind],
    used: today[kind],
    // An operator may lower a limit below what is used.
    remaining: Math.max(0, limits[kind] - today[kind]),
    resets_at: resetsAt(today.day),
  });
  return { video: of('video'), image: of('image') };
}
