import { randomBytes, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import type { KeyScope } from '@vision/contracts/scopes';
import { insertKey } from '../db/api-keys.ts';
import type { KeyPurpose } from '../db/api-keys.ts';
import { appendAudit } from '../db/audit-log.ts';
import { digestKey, formatKey, KEY_ID_BYTES, SECRET_BYTES } from '../domain/api-key.ts';
import type { ApiKey } from '../domain/api-key.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { Deps } from './deps.ts';

export type CreatedKey = ApiKey & { key: string };

interface NewKey {
  name: string;
  subject?: string | undefined;
  /** undefined: all scopes. */
  scopes?: KeyScope[] | undefined;
  /** undefined: the key does not expire. */
  expiresInS?: number | undefined;
  actor: string;
}

/** Creates a key. Without a subject it gets a new one: limits, quota and tasks belong to the subject. */
export async function createKey(
  { db, peppers, signals }: Pick<Deps, 'db' | 'peppers' | 'signals'>,
  { name, subject = randomUUID(), scopes, expiresInS, actor }: NewKey,
): Promise<CreatedKey> {
  const created = await inTransaction(db, async (tx) => {
    const key = await mintKey(tx, peppers, { name, subject, scopes: scopes ?? null, expiresInS });
    const details = {
      subject,
      name,
      ...(scopes ? { scopes } : {}),
      ...(expiresInS ? { expires_in_s: expiresInS } : {}),
    };
    await appendAudit(tx, { actor, action: 'key.create', target: key.key_id, details });
    return key;
  });
  signals.keyCreated(created, actor);
  return created;
}

/** Generates and stores a key; its text exists only in the returned value. */
export async function mintKey(tx: Knex, peppers: Peppers, purpose: KeyPurpose): Promise<CreatedKey> {
  const { keyId, key } = formatKey(randomBytes(KEY_ID_BYTES), randomBytes(SECRET_BYTES));
  const row = await insertKey(tx, { keyId, ...purpose, ...digestKey(key, peppers) });
  return { ...row, key };
}
