import type { Knex } from 'knex';
import type { DisabledReason } from '../domain/delivery.ts';

/** An address that receives events of a subject. */
export interface EndpointRow {
  /** Identifies the endpoint in rows and boxes: a later endpoint of the same name has another key. */
  endpoint_key: string;
  subject: string;
  endpoint_id: string;
  url_box: Buffer;
  /** For logs and spans. */
  host: string;
  secret_box: Buffer;
  old_secret_box: Buffer | null;
  old_secret_until: Date | null;
  /** All types when null. */
  event_types: string[] | null;
  is_enabled: boolean;
  disabled_reason: DisabledReason | null;
  /** The log was turned into deliveries up to this number. */
  position: number;
  /** Number of the last event before the skipped ones. */
  missed_after: number | null;
  failing_since: Date | null;
  failures: number;
  created_at: Date;
  updated_at: Date;
}

const TABLE = 'webhook_endpoints';
const COLUMNS = [
  'endpoint_key',
  'subject',
  'endpoint_id',
  'url_box',
  'host',
  'secret_box',
  'old_secret_box',
  'old_secret_until',
  'event_types',
  'is_enabled',
  'disabled_reason',
  'position',
  'missed_after',
  'failing_since',
  'failures',
  'created_at',
  'updated_at',
] as const;

/** Settings that a caller chooses for an endpoint. */
export interface EndpointSettings {
  urlBox: Buffer;
  host: string;
  eventTypes: string[] | null;
  isEnabled: boolean;
  /** The API key of the request; undefined when the gateway does not send it. */
  keyId: string | undefined;
}

/** Serialises changes of the endpoints of a subject, so that their number is counted correctly. */
export async function lockEndpointsOf(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('webhook_endpoints ' || ?, 0))`, [subject]);
}

export async function findEndpoint(db: Knex, subject: string, endpointId: string): Promise<EndpointRow | undefined> {
  return db(TABLE)
    .where({ subject, endpoint_id: endpointId, deleted_at: null })
    .first<EndpointRow | undefined>(...COLUMNS);
}

/** The same, locked until the transaction ends. */
export async function lockEndpoint(
  tx: Knex.Transaction,
  subject: string,
  endpointId: string,
): Promise<EndpointRow | undefined> {
  return tx(TABLE)
    .where({ subject, endpoint_id: endpointId, deleted_at: null })
    .forUpdate()
    .first<EndpointRow | undefined>(...COLUMNS);
}

/** All endpoints of a subject in the order of their names. */
export async function listEndpoints(db: Knex, subject: string): Promise<EndpointRow[]> {
  return db(TABLE)
    .where({ subject, deleted_at: null })
    .orderBy('endpoint_id')
    .select<EndpointRow[]>(...COLUMNS);
}

export async function countEndpoints(tx: Knex.Transaction, subject: string): Promise<number> {
  const own = tx(TABLE).where({ subject, deleted_at: null });
  const row = await own.count<{ count: string | number }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

/** Adds an endpoint, which receives events that are logged from now on. */
export async function insertEndpoint(
  tx: Knex.Transaction,
  key: { endpointKey: string; subject: string; endpointId: string; secretBox: Buffer },
  settings: EndpointSettings,
): Promise<void> {
  await tx.raw(
    `insert into webhook_endpoints
       (endpoint_key, subject, endpoint_id, secret_box, url_box, host, event_types, is_enabled, disabled_reason, key_id, position)
     values (:endpointKey, :subject, :endpointId, :secretBox, :urlBox, :host, :eventTypes, :isEnabled,
       :disabledReason, :keyId, coalesce((select position from subject_logs where subject = :subject), 0))`,
    {
      ...key,
      ...settings,
      keyId: settings.keyId ?? null,
      disabledReason: settings.isEnabled ? null : 'requested',
    },
  );
}

/** Replaces the settings of a locked endpoint, and its secret if one is given. */
export async function replaceEndpoint(
  tx: Knex.Transaction,
  endpointKey: string,
  { urlBox, host, eventTypes, secretBox, keyId }: EndpointChange,
): Promise<void> {
  const secret = secretBox ? { secret_box: secretBox, old_secret_box: null, old_secret_until: null } : {};
  const url = urlBox ? { url_box: urlBox, host, failing_since: null, failures: 0 } : {};
  await tx(TABLE)
    .where({ endpoint_key: endpointKey })
    .update({ event_types: eventTypes, updated_at: tx.fn.now(), ...url, ...secret, key_id: keyId ?? null });
}

/** `urlBox` and `secretBox` are those of a new address and a new secret. Failures of the old address do not count. */
interface EndpointChange extends Pick<EndpointSettings, 'host' | 'eventTypes' | 'keyId'> {
  urlBox: Buffer | undefined;
  secretBox: Buffer | undefined;
}

/** Enables a locked endpoint. It begins with the next event, and with its held deliveries. */
export async function enableEndpoint(tx: Knex.Transaction, endpointKey: string): Promise<void> {
  await tx.raw(
    `update webhook_endpoints as e
        set is_enabled = true, disabled_reason = null, failing_since = null, failures = 0, missed_after = null,
            position = coalesce((select l.position from subject_logs as l where l.subject = e.subject), 0)
      where endpoint_key = ?`,
    [endpointKey],
  );
  await tx.raw(
    `update webhook_deliveries
        set state = 'pending', lease_until = now(), failures = 0, begun_at = now(), attempt = attempt + 1
      where endpoint_key = ? and state = 'held'`,
    [endpointKey],
  );
}

/** Disables a locked endpoint. Its pending deliveries are held. */
export async function disableEndpoint(
  tx: Knex.Transaction,
  endpointKey: string,
  reason: DisabledReason,
): Promise<void> {
  await tx(TABLE).where({ endpoint_key: endpointKey }).update({ is_enabled: false, disabled_reason: reason });
  await tx('webhook_deliveries').where({ endpoint_key: endpointKey, state: 'pending' }).update({ state: 'held' });
}

/**
 * Hides a locked endpoint and frees its name. It receives nothing more; its deliveries, which may be millions, are
 * removed in steps before the endpoint itself.
 */
export async function markEndpointDeleted(tx: Knex.Transaction, endpointKey: string): Promise<void> {
  await disableEndpoint(tx, endpointKey, 'requested');
  await tx(TABLE)
    .where({ endpoint_key: endpointKey })
    .update({ endpoint_id: endpointKey, deleted_at: tx.fn.now(), missed_after: null });
}

/** Removes deleted endpoints without deliveries. */
export async function removeDeletedEndpoints(db: Knex): Promise<void> {
  await db.raw(
    `delete from webhook_endpoints as e where deleted_at is not null
        and not exists (select from webhook_deliveries as d where d.endpoint_key = e.endpoint_key)`,
  );
}

/** Replaces the secret; the previous one stays valid for some seconds. @returns the end of that time */
export async function replaceSecret(
  tx: Knex.Transaction,
  endpointKey: string,
  { secretBox, overlapS }: { secretBox: Buffer; overlapS: number },
): Promise<Date> {
  const { rows } = await tx.raw<{ rows: [{ until: Date }] }>(
    `update webhook_endpoints
        set old_secret_box = secret_box, old_secret_until = now() + make_interval(secs => :overlapS),
            secret_box = :secretBox, updated_at = now()
      where endpoint_key = :endpointKey
      returning old_secret_until as until`,
    { endpointKey, secretBox, overlapS },
  );
  return rows[0].until;
}

/** Records that a receiver has answered. */
export async function noteSuccess(db: Knex, endpointKey: string): Promise<void> {
  await db.raw(
    `update webhook_endpoints set failing_since = null, failures = 0
      where endpoint_key = ? and (failing_since is not null or failures > 0)`,
    [endpointKey],
  );
}

/** Counts the subjects with an enabled endpoint that has not answered since its last failure. */
export async function countFailingSubjects(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `select count(distinct subject)::int as count from webhook_endpoints where is_enabled and failing_since is not null`,
  );
  return rows[0].count;
}

/** Duration of the failures of an endpoint. */
export interface Failing {
  subject: string;
  endpoint_id: string;
  is_enabled: boolean;
  failures: number;
  hours: number;
}

/**
 * Counts a failed attempt at this address; the endpoint stays locked.
 * @returns undefined when the endpoint was removed, or has another address by now
 */
export async function noteFailure(
  tx: Knex.Transaction,
  { endpoint_key: endpointKey, url_box: urlBox }: Pick<EndpointRow, 'endpoint_key' | 'url_box'>,
): Promise<Failing | undefined> {
  const { rows } = await tx.raw<{ rows: Failing[] }>(
    `update webhook_endpoints set failing_since = coalesce(failing_since, now()), failures = failures + 1
      where endpoint_key = :endpointKey and url_box = :urlBox
      returning subject, endpoint_id, is_enabled, failures,
        extract(epoch from now() - failing_since)::float8 / 3600 as hours`,
    { endpointKey, urlBox },
  );
  return rows[0];
}

export type SealedRow = Pick<EndpointRow, 'endpoint_key' | 'url_box' | 'secret_box' | 'old_secret_box'>;

/** Endpoints that are encrypted with another version of the key. */
export async function findSealedOtherwise(db: Knex, version: number, limit: number): Promise<SealedRow[]> {
  return db(TABLE)
    .whereRaw('get_byte(url_box, 0) <> :version or get_byte(secret_box, 0) <> :version', { version })
    .orWhereRaw('old_secret_box is not null and get_byte(old_secret_box, 0) <> ?', [version])
    .limit(limit)
    .select<SealedRow[]>('endpoint_key', 'url_box', 'secret_box', 'old_secret_box');
}

/** Stores re-encrypted boxes, unless the endpoint has others by now. @returns whether they were stored */
export async function replaceBoxes(db: Knex, before: SealedRow, after: SealedRow): Promise<boolean> {
  const { endpoint_key, url_box, secret_box, old_secret_box } = after;
  const changed = await db(TABLE)
    .where({ endpoint_key, url_box: before.url_box, secret_box: before.secret_box })
    .whereRaw('old_secret_box is not distinct from ?', [before.old_secret_box])
    .update({ url_box, secret_box, old_secret_box });
  return changed === 1;
}
