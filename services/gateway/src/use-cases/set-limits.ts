import type { SubjectLimits } from '@vision/contracts/limits';
import { inTransaction } from '@vision/shared/db/transaction';
import { appendAudit } from '../db/audit-log.ts';
import { lockOverrides, writeOverrides } from '../db/settings.ts';
import { changeLimits, effectiveLimits } from '../domain/limits.ts';
import type { LimitsChange } from '../domain/limits.ts';
import type { Deps } from './deps.ts';

export async function setLimits(
  { db, keyCache }: Pick<Deps, 'db' | 'keyCache'>,
  { subject, change, actor }: { subject: string; change: LimitsChange; actor: string },
): Promise<SubjectLimits> {
  const next = await inTransaction(db, async (tx) => {
    const overrides = changeLimits(await lockOverrides(tx, subject), change);
    await writeOverrides(tx, subject, overrides);
    await appendAudit(tx, { actor, action: 'limits.set', target: subject, details: change });
    return overrides;
  });
  keyCache.forget({ subjects: [subject] });
  return effectiveLimits(next);
}
