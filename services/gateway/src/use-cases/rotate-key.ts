import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import { expireAfter, lockKey, markRevoked } from '../db/api-keys.ts';
import { appendAudit } from '../db/audit-log.ts';
import { mintKey } from './create-key.ts';
import type { CreatedKey } from './create-key.ts';
import type { Deps } from './deps.ts';

/**
 * Creates a second key for the same subject, with the same scopes, and makes the first one expire after the overlap.
 */
export async function rotateKey(
  { db, peppers, keyCache, signals }: Pick<Deps, 'db' | 'peppers' | 'keyCache' | 'signals'>,
  { keyId, overlapS, actor }: { keyId: string; overlapS: number; actor: string },
): Promise<CreatedKey> {
  const created = await inTransaction(db, async (tx) => {
    const old = await lockKey(tx, keyId);
    if (!old) throw fail.notFound('There is no such key.');
    if (!old.isInForce) throw keyEnded();
    const key = await mintKey(tx, peppers, { name: old.name, subject: old.subject, scopes: old.scopes });
    if (overlapS === 0) await markRevoked(tx, keyId);
    else await expireAfter(tx, keyId, overlapS);
    const details = { subject: old.subject, new_key_id: key.key_id, overlap_s: overlapS };
    await appendAudit(tx, { actor, action: 'key.rotate', target: keyId, details });
    return key;
  });
  keyCache.forget({ keyIds: [keyId] });
  signals.keyCreated(created, actor);
  return created;
}

export const keyEnded = () => fail.conflict('key_ended', 'The key is revoked or expired; create a new one.');
