import type { Knex } from 'knex';
import type { SnapshotMode } from '@vision/contracts/create-query';
import type { KeyScope } from '@vision/contracts/scopes';
import type { ApiKey, KeyDigest } from '../domain/api-key.ts';
import type { LimitOverrides } from '../domain/limits.ts';

/** Facts of a valid key for authentication. */
export interface KeyRecord extends KeyDigest {
  subject: string;
  /** Milliseconds until the key expires; undefined when it does not. */
  expiresInMs: number | undefined;
  overrides: LimitOverrides;
  /** Setting of the subject; undefined: the default applies. */
  snapshots: SnapshotMode | undefined;
  /** undefined: all scopes. */
  scopes: KeyScope[] | undefined;
}

/** Properties of a new key. */
export interface KeyPurpose {
  subject: string;
  name: string;
  /** null: all scopes. */
  scopes: KeyScope[] | null;
  /** undefined: the key does not expire. */
  expiresInS?: number | undefined;
}

const SHOWN = ['key_id', 'subject', 'name', 'scopes', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'];
const LISTED_AT_MOST = 10_000;

export async function insertKey(db: Knex, key: { keyId: string } & KeyPurpose & KeyDigest): Promise<ApiKey> {
  const row = {
    key_id: key.keyId,
    subject: key.subject,
    name: key.name,
    scopes: key.scopes,
    digest: key.digest,
    pepper_version: key.pepperVersion,
    ...(key.expiresInS === undefined
      ? {}
      : { expires_at: db.raw('now() + make_interval(secs => ?)', [key.expiresInS]) }),
  };
  const [inserted] = (await db('api_keys').insert(row, SHOWN)) as [ApiKey];
  return inserted;
}

/**
 * Returns those of the keys that are neither revoked nor expired, with limits and settings of their subjects, by id.
 */
export async function findKeysInForce(db: Knex, keyIds: readonly string[]): Promise<Map<string, KeyRecord>> {
  const { rows } = await db.raw<{ rows: KeyRow[] }>(
    `select k.key_id, k.subject, k.digest, k.pepper_version, k.scopes, l.overrides, s.snapshots,
            (extract(epoch from k.expires_at - now()) * 1000)::float8 as expires_in_ms
       from api_keys k left join subject_limits l on l.subject = k.subject
            left join subject_settings s on s.subject = k.subject
      where k.key_id = any(:keyIds) and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
    { keyIds: [...keyIds] },
  );
  return new Map(rows.map((row) => [row.key_id, toRecord(row)]));
}

export interface KeyFilter {
  subject?: string | undefined;
  /** Hexadecimal beginning of the id. */
  idPrefix?: string | undefined;
}

export async function selectKeys(db: Knex, { subject, idPrefix }: KeyFilter): Promise<ApiKey[]> {
  const query = db('api_keys').select<ApiKey[]>(SHOWN).orderBy('created_at', 'desc').limit(LISTED_AT_MOST);
  if (subject !== undefined) void query.where({ subject });
  if (idPrefix !== undefined) void query.where('key_id', 'like', `${idPrefix}%`);
  return query;
}

/** The key under a row lock, for a change in the same transaction. */
export async function lockKey(tx: Knex, keyId: string): Promise<(ApiKey & { isInForce: boolean }) | undefined> {
  const { rows } = await tx.raw<{ rows: (ApiKey & { is_in_force: boolean })[] }>(
    `select ${SHOWN.join(', ')}, revoked_at is null and (expires_at is null or expires_at > now()) as is_in_force
       from api_keys where key_id = :keyId for update`,
    { keyId },
  );
  const row = rows[0];
  return row && { ...row, isInForce: row.is_in_force };
}

/** Returns whether the key was valid until now. */
export async function markRevoked(db: Knex, keyId: string): Promise<boolean> {
  return (
    (await db('api_keys').where({ key_id: keyId }).whereNull('revoked_at').update({ revoked_at: db.fn.now() })) === 1
  );
}

/** Makes the key expire after the overlap, unless it expires earlier. */
export async function expireAfter(db: Knex, keyId: string, seconds: number): Promise<void> {
  await db.raw(
    `update api_keys set expires_at = least(expires_at, now() + make_interval(secs => :seconds)) where key_id = :keyId`,
    { keyId, seconds },
  );
}

/** Records the use at most once a minute over all replicas, and renews a digest made with an older pepper. */
export async function noteUse(db: Knex, keyId: string, renewed: KeyDigest | undefined): Promise<void> {
  const change = renewed ? { digest: renewed.digest, pepper_version: renewed.pepperVersion } : {};
  await db('api_keys')
    .where({ key_id: keyId })
    .whereRaw(`(last_used_at is null or last_used_at < now() - interval '1 minute')`)
    .update({ last_used_at: db.fn.now(), ...change });
}

function toRecord(row: KeyRow): KeyRecord {
  return {
    subject: row.subject,
    digest: row.digest,
    pepperVersion: row.pepper_version,
    overrides: row.overrides ?? {},
    snapshots: row.snapshots ?? undefined,
    scopes: row.scopes ?? undefined,
    expiresInMs: row.expires_in_ms ?? undefined,
  };
}

interface KeyRow {
  key_id: string;
  subject: string;
  digest: Buffer;
  pepper_version: number;
  overrides: LimitOverrides | null;
  snapshots: SnapshotMode | null;
  scopes: KeyScope[] | null;
  expires_in_ms: number | null;
}
