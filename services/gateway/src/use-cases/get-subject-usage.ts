import { getSubjectUsage as question } from '@vision/contracts/quota';
import type { UsageReply } from '@vision/contracts/quota';
import type { Deps } from './deps.ts';
import { getLimits } from './get-limits.ts';

/** What a subject used of today's quota, against the limits in force for it. */
export async function getSubjectUsage(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  subject: string,
  signal: AbortSignal,
): Promise<UsageReply> {
  const limits = await getLimits({ db }, subject);
  const query = { video_limit: limits.video_tasks_per_day, image_limit: limits.images_per_day };
  return owners.quota.ask(question, { subject, query, signal });
}
