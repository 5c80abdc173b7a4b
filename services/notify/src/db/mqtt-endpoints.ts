import type { Knex } from 'knex';
import type { WebhookKey } from '@vision/contracts/webhook-keys';
import type { MqttDisabledReason, MqttFailure } from '../domain/mqtt-failure.ts';

/** A broker of a caller that events of a subject are published to. */
export interface MqttEndpointRow {
  /** Identifies the endpoint in boxes and as MQTT client: a later endpoint of the same name has another key. */
  endpoint_key: string;
  subject: string;
  endpoint_id: string;
  broker_box: Buffer;
  /** For logs and spans. */
  host: string;
  topic_prefix: string;
  /** All types when null. */
  event_types: string[] | null;
  is_enabled: boolean;
  disabled_reason: MqttDisabledReason | null;
  /** Counts changes of the settings: a connection with older ones is closed. */
  revision: number;
  /** The API key that changed it last. */
  key_id: string | null;
  /** The broker has acknowledged every wanted event up to this number. */
  position: number;
  /** Expiry of the lease of a process that died; `-Infinity` when no process ever had it. */
  lease_until: Date | number;
  /** Start of the connection of the process that has the lease; null without a connection. */
  connected_since: Date | null;
  failing_since: Date | null;
  failures: number;
  last_failure: MqttFailure | null;
  created_at: Date;
  updated_at: Date;
}

const TABLE = 'mqtt_endpoints';
const COLUMNS = [
  'endpoint_key',
  'subject',
  'endpoint_id',
  'broker_box',
  'host',
  'topic_prefix',
  'event_types',
  'is_enabled',
  'disabled_reason',
  'revision',
  'key_id',
  'position',
  'lease_until',
  'connected_since',
  'failing_since',
  'failures',
  'last_failure',
  'created_at',
  'updated_at',
] as const;

/** Settings that a caller chooses for an endpoint. */
export interface MqttSettings {
  brokerBox: Buffer;
  host: string;
  topicPrefix: string;
  eventTypes: string[] | null;
  isEnabled: boolean;
  /** The API key of the request. */
  keyId: string | undefined;
}

/** Serialises changes of the endpoints of a subject, so that their number is counted correctly. */
export async function lockMqttEndpointsOf(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('mqtt_endpoints ' || ?, 0))`, [subject]);
}

export async function findMqttEndpoint(
  db: Knex,
  subject: string,
  endpointId: string,
): Promise<MqttEndpointRow | undefined> {
  return db(TABLE)
    .where({ subject, endpoint_id: endpointId })
    .first<MqttEndpointRow | undefined>(...COLUMNS);
}

/** All endpoints of a subject in the order of their names. */
export async function listMqttEndpoints(db: Knex, subject: string): Promise<MqttEndpointRow[]> {
  return db(TABLE)
    .where({ subject })
    .orderBy('endpoint_id')
    .select<MqttEndpointRow[]>(...COLUMNS);
}

export async function countMqttEndpoints(tx: Knex.Transaction, subject: string): Promise<number> {
  const row = await tx(TABLE).where({ subject }).count<{ count: string | number }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

/** Adds an endpoint, which receives events that are logged from now on. */
export async function insertMqttEndpoint(
  tx: Knex.Transaction,
  key: { endpointKey: string; subject: string; endpointId: string },
  settings: MqttSettings,
): Promise<void> {
  await tx.raw(
    `insert into mqtt_endpoints
       (endpoint_key, subject, endpoint_id, broker_box, host, topic_prefix, event_types, is_enabled, disabled_reason,
        key_id, position)
     values (:endpointKey, :subject, :endpointId, :brokerBox, :host, :topicPrefix, :eventTypes, :isEnabled,
       :disabledReason, :keyId, coalesce((select position from subject_logs where subject = :subject), 0))`,
    { ...key, ...settings, keyId: settings.keyId ?? null, disabledReason: settings.isEnabled ? null : 'requested' },
  );
}

/**
 * Replaces the settings of an endpoint, which reconnects at once. A disabled one begins with the next event when it is
 * enabled.
 */
export async function replaceMqttEndpoint(
  tx: Knex.Transaction,
  endpointKey: string,
  settings: MqttSettings,
): Promise<void> {
  await tx.raw(
    `update mqtt_endpoints as e
        set key_id = :keyId, broker_box = :brokerBox, host = :host, topic_prefix = :topicPrefix, event_types = :eventTypes,
            position = case when :isEnabled and not is_enabled
              then coalesce((select l.position from subject_logs as l where l.subject = e.subject), 0)
              else position end,
            is_enabled = :isEnabled, disabled_reason = case when :isEnabled then null
              when is_enabled then 'requested' else disabled_reason end,
            revision = revision + 1, updated_at = now(), next_at = '-infinity', failing_since = null, failures = 0,
            last_failure = null, connected_since = null
      where endpoint_key = :endpointKey`,
    { ...settings, keyId: settings.keyId ?? null, endpointKey },
  );
}

/** Disables a locked endpoint. Its connection is closed at the next renewal of its lease. */
export async function disableMqttEndpoint(
  tx: Knex.Transaction,
  endpointKey: string,
  reason: MqttDisabledReason,
): Promise<void> {
  await tx(TABLE).where({ endpoint_key: endpointKey }).update({
    is_enabled: false,
    disabled_reason: reason,
    lease_token: null,
    lease_until: tx.fn.now(),
    connected_since: null,
  });
}

/** Enabled endpoints that a key changed last, locked until the transaction ends. */
export async function lockMqttEndpointsOfKey(
  tx: Knex.Transaction,
  { subject, key_id: keyId }: WebhookKey,
): Promise<{ endpoint_key: string; endpoint_id: string; host: string }[]> {
  const { rows } = await tx.raw<{ rows: { endpoint_key: string; endpoint_id: string; host: string }[] }>(
    `select endpoint_key, endpoint_id, host from mqtt_endpoints
      where is_enabled and subject = :subject and key_id is not distinct from :keyId
      order by endpoint_key for update`,
    { subject, keyId },
  );
  return rows;
}

export async function deleteMqttEndpoint(db: Knex, subject: string, endpointId: string): Promise<void> {
  await db(TABLE).where({ subject, endpoint_id: endpointId }).delete();
}

export type SealedBrokerRow = Pick<MqttEndpointRow, 'endpoint_key' | 'broker_box'>;

/** Endpoints that are encrypted with another version of the key. */
export async function findBrokersSealedOtherwise(db: Knex, version: number, limit: number): Promise<SealedBrokerRow[]> {
  return db(TABLE)
    .whereRaw('get_byte(broker_box, 0) <> ?', [version])
    .limit(limit)
    .select<SealedBrokerRow[]>('endpoint_key', 'broker_box');
}

/** Stores a re-encrypted box, unless the endpoint has another one by now. @returns whether it was stored */
export async function replaceBrokerBox(db: Knex, before: SealedBrokerRow, box: Buffer): Promise<boolean> {
  return (await db(TABLE).where(before).update({ broker_box: box })) === 1;
}
