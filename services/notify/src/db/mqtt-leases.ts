import type { Knex } from 'knex';
import type { MqttFailure } from '../domain/mqtt-failure.ts';
import type { MqttEndpointRow } from './mqtt-endpoints.ts';

/** An endpoint to which this process may connect. */
export interface LeasedMqttEndpoint extends Pick<
  MqttEndpointRow,
  | 'endpoint_key'
  | 'subject'
  | 'endpoint_id'
  | 'broker_box'
  | 'host'
  | 'topic_prefix'
  | 'event_types'
  | 'revision'
  | 'position'
> {
  /** Fencing token of this claim: statements of an earlier holder change nothing. */
  lease_token: string;
}

type Lease = Pick<LeasedMqttEndpoint, 'endpoint_key' | 'lease_token' | 'revision'>;

/** SQL that is true while an endpoint waits for a process to connect to it. */
export const SOME_MQTT_DUE = `exists (
  select from mqtt_endpoints where is_enabled and greatest(lease_until, next_at) <= now())`;

/** Claims endpoints without a connected process, those that have waited longest first. */
export async function claimMqttEndpoints(
  db: Knex,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<LeasedMqttEndpoint[]> {
  const { rows } = await db.raw<{ rows: LeasedMqttEndpoint[] }>(
    `update mqtt_endpoints as e
        set lease_token = gen_random_uuid(), lease_until = now() + make_interval(secs => :leaseMs / 1000.0),
            connected_since = null
       from (select endpoint_key from mqtt_endpoints
              where is_enabled and greatest(lease_until, next_at) <= now()
              order by greatest(lease_until, next_at) limit :limit for update skip locked) as due
      where e.endpoint_key = due.endpoint_key
      returning e.endpoint_key, e.subject, e.endpoint_id, e.broker_box, e.host, e.topic_prefix, e.event_types,
        e.revision, e.position, e.lease_token`,
    { limit, leaseMs },
  );
  return rows;
}

/** Renews leases of enabled endpoints whose settings are unchanged since the claim. @returns their tokens */
export async function renewMqttLeases(
  db: Knex,
  held: Pick<LeasedMqttEndpoint, 'lease_token' | 'revision'>[],
  leaseMs: number,
): Promise<Set<string>> {
  const { rows } = await db.raw<{ rows: { lease_token: string }[] }>(
    `update mqtt_endpoints as e set lease_until = now() + make_interval(secs => :leaseMs / 1000.0)
       from unnest(:tokens::uuid[], :revisions::int[]) as held(token, revision)
      where e.lease_token = held.token and e.revision = held.revision and e.is_enabled
      returning e.lease_token`,
    { leaseMs, tokens: held.map(({ lease_token }) => lease_token), revisions: held.map(({ revision }) => revision) },
  );
  return new Set(rows.map(({ lease_token }) => lease_token));
}

export async function noteMqttConnected(db: Knex, lease: Lease): Promise<void> {
  await held(db, lease).update({ connected_since: db.fn.now() });
}

/**
 * Stores up to where the broker has acknowledged, and whether that proves that it works.
 * @returns false when the lease is lost, or the endpoint has other settings or is disabled
 */
export async function moveMqttEndpoint(
  db: Knex,
  lease: Lease,
  { position, isWorking }: { position: number; isWorking: boolean },
): Promise<boolean> {
  const cleared = isWorking ? { failures: 0, failing_since: null, last_failure: null } : {};
  return (await held(db, lease).update({ position, ...cleared })) === 1;
}

/**
 * The number of the newest event of the subject; undefined when the lease is lost, or the endpoint has other settings
 * or is disabled.
 */
export async function readHeadIfLeased(db: Knex, lease: Lease): Promise<number | undefined> {
  const row = await held(db, lease)
    .leftJoin('subject_logs as l', 'l.subject', 'mqtt_endpoints.subject')
    .first<{ position: number | null } | undefined>('l.position');
  return row && (row.position ?? 0);
}

const held = (db: Knex, { endpoint_key, lease_token, revision }: Lease) =>
  db('mqtt_endpoints').where({ endpoint_key, lease_token, revision, is_enabled: true });

/** Lets another process connect at once. */
export async function releaseMqttLease(
  db: Knex,
  { endpoint_key, lease_token }: Omit<Lease, 'revision'>,
): Promise<void> {
  await db('mqtt_endpoints')
    .where({ endpoint_key, lease_token })
    .update({ lease_token: null, lease_until: db.fn.now(), connected_since: null });
}

/** Duration of the failures of an endpoint. */
export interface FailingMqtt {
  failures: number;
  hours: number;
}

/**
 * Counts a failure; the endpoint stays locked. @returns undefined when the lease is lost or the settings have changed
 */
export async function noteMqttFailure(
  tx: Knex.Transaction,
  { endpoint_key, lease_token, revision }: Lease,
  failure: MqttFailure,
): Promise<FailingMqtt | undefined> {
  const { rows } = await tx.raw<{ rows: FailingMqtt[] }>(
    `update mqtt_endpoints
        set failures = failures + 1, failing_since = coalesce(failing_since, now()), last_failure = :failure,
            connected_since = null
      where endpoint_key = :endpoint_key and lease_token = :lease_token and revision = :revision
      returning failures, extract(epoch from now() - failing_since)::float8 / 3600 as hours`,
    { endpoint_key, lease_token, revision, failure },
  );
  return rows[0];
}

/** Releases the lease; no process connects before the pause has ended. */
export async function postponeMqtt(
  db: Knex,
  { endpoint_key, lease_token }: Omit<Lease, 'revision'>,
  pauseMs: number,
): Promise<void> {
  await db.raw(
    `update mqtt_endpoints
        set lease_token = null, lease_until = now(), connected_since = null, next_at = now() + make_interval(secs => :pauseMs / 1000.0)
      where endpoint_key = :endpoint_key and lease_token = :lease_token`,
    { endpoint_key, lease_token, pauseMs },
  );
}

/** State of MQTT endpoints: connected ones, and the longest time that one has waited for a process. */
export async function readMqttState(db: Knex): Promise<{ connected: number; waiting_s: number; disabled: number }> {
  const { rows } = await db.raw<{ rows: [{ connected: number; waiting_s: number; disabled: number }] }>(
    `select count(*) filter (where is_enabled and connected_since is not null and lease_until > now())::int
              as connected,
            coalesce(extract(epoch from max(now() - greatest(lease_until, next_at, updated_at))
              filter (where is_enabled and greatest(lease_until, next_at) <= now())), 0)::float8 as waiting_s,
            count(*) filter (where disabled_reason = 'failing')::int as disabled
       from mqtt_endpoints`,
  );
  return rows[0];
}
