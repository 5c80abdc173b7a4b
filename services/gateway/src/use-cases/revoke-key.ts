import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import { lockKey, markRevoked } from '../db/api-keys.ts';
import { appendAudit } from '../db/audit-log.ts';
import type { Deps } from './deps.ts';

/** Revokes a key permanently; a repeat changes nothing. Other replicas receive it with their next poll. */
export async function revokeKey(
  { db, keyCache, signals }: Pick<Deps, 'db' | 'keyCache' | 'signals'>,
  { keyId, actor }: { keyId: string; actor: string },
): Promise<void> {
  const isNew = await inTransaction(db, async (tx) => {
    const key = await lockKey(tx, keyId);
    if (!key) throw fail.notFound('There is no such key.');
    if (!(await markRevoked(tx, keyId))) return false;
    await appendAudit(tx, { actor, action: 'key.revoke', target: keyId, details: { subject: key.subject } });
    return true;
  });
  keyCache.forget({ keyIds: [keyId] });
  if (isNew) signals.keyRevoked(keyId, actor);
}
