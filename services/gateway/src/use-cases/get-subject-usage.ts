import { getSubjectUsage as question } from '@vision/contracts/quota';
import type { UsageReply } from '@vision/contracts/quota';
import type { Deps } from './deps.ts';
import { getLimits } from './get-limits.ts';

/** Today's quota usage of a subject, with its limits. */
export async function getSubjectUsage(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  subject: string,
  signal: AbortSignal,
): Promise<UsageReply> {
  const limits = await getLimits({ db }, subject);
  const query = { video_limit: limits.video_tasks_per_day, image_limit: limits.images_per_day };
  return owners.quota.ask(question, { subject, query, signal });
}
