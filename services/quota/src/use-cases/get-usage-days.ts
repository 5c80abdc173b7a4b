import type { UsageDay } from '@vision/contracts/quota';
import { quotaToday, usedOnDays } from '../db/usage.ts';
import { addDays, dayRangeOf, daysOf } from '../domain/day-range.ts';
import type { Deps } from './deps.ts';

/** Usage of a subject on each of these days, the first day first, including days without usage. */
export async function getUsageDays(
  { db, settings }: Pick<Deps, 'db' | 'settings'>,
  { subject, ...asked }: { subject: string; from?: string | undefined; to?: string | undefined },
): Promise<UsageDay[]> {
  const today = await quotaToday(db);
  const range = dayRangeOf(asked, { today, first: addDays(today, -settings.retentionDays) });
  if (!range) return [];
  const used = new Map((await usedOnDays(db, subject, range)).map(({ day, ...units }) => [day, units]));
  return daysOf(range).map((day) => ({ day, ...(used.get(day) ?? { video: 0, image: 0 }) }));
}
