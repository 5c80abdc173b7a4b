import type { Knex } from 'knex';
import { MAX_PENDING, ROOM_TO_GO_ON } from '../domain/delivery.ts';
import type { EventType } from '../domain/event.ts';

/** An endpoint whose log has events without deliveries. */
export interface BehindEndpoint {
  endpoint_key: string;
  subject: string;
  endpoint_id: string;
  host: string;
  event_types: string[] | null;
  position: number;
  missed_after: number | null;
}

/** An endpoint with skipped events waits until enough of its deliveries have ended. */
const IS_BEHIND = `e.is_enabled and (
  (e.missed_after is null and e.position < l.position)
  or (e.missed_after is not null and not exists (
    select from webhook_deliveries as d where d.endpoint_key = e.endpoint_key and d.state = 'pending'
    offset ${MAX_PENDING - ROOM_TO_GO_ON})))`;

/** SQL that is true while the deliveries of an endpoint are incomplete up to the end of its log. */
export const SOME_BEHIND = `exists (
  select from webhook_endpoints as e join subject_logs as l using (subject) where ${IS_BEHIND})`;

/** Endpoints with undispatched events, or with enough free deliveries for the event about skipped ones. */
export async function findBehind(db: Knex, limit: number): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `select e.endpoint_key as key from webhook_endpoints as e join subject_logs as l using (subject)
      where ${IS_BEHIND} order by e.position < l.position desc limit ?`,
    [limit],
  );
  return rows.map(({ key }) => key);
}

/** Locks such an endpoint; undefined while another process holds it. */
export async function lockBehind(tx: Knex.Transaction, endpointKey: string): Promise<BehindEndpoint | undefined> {
  const { rows } = await tx.raw<{ rows: BehindEndpoint[] }>(
    `select e.endpoint_key, e.subject, e.endpoint_id, e.host, e.event_types, e.position, e.missed_after
       from webhook_endpoints as e join subject_logs as l using (subject)
      where e.endpoint_key = ? and ${IS_BEHIND}
        for no key update of e skip locked`,
    [endpointKey],
  );
  return rows[0];
}

/** Stores up to where the log was turned into deliveries. */
export async function moveEndpoint(
  tx: Knex.Transaction,
  { endpoint_key, position, missed_after }: Pick<BehindEndpoint, 'endpoint_key' | 'position' | 'missed_after'>,
): Promise<void> {
  await tx('webhook_endpoints').where({ endpoint_key }).update({ position, missed_after });
}

/** Counts the pending deliveries of an endpoint, up to `most`. */
export async function countPending(db: Knex, endpointKey: string, most: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ pending: number }] }>(
    `select count(*)::int as pending from (
       select from webhook_deliveries where endpoint_key = :endpointKey and state = 'pending' limit :most) as counted`,
    { endpointKey, most },
  );
  return rows[0].pending;
}

/** Fields of an event that a delivery needs. */
export interface LogEntry {
  position: number;
  event_id: string;
  type: EventType;
  task_id: string | null;
  occurred_at: Date;
  data: string;
}

const ENTRY = 'position, event_id, type, task_id, occurred_at, data';

/** Events of a log after a position, in its order. */
export async function readEntries(
  db: Knex,
  range: { subject: string; after: number; upTo: number; limit: number },
): Promise<LogEntry[]> {
  const { rows } = await db.raw<{ rows: LogEntry[] }>(
    `select ${ENTRY} from events where subject = :subject and position > :after and position <= :upTo
      order by position limit :limit`,
    range,
  );
  return rows;
}

export interface NewDelivery {
  delivery_id: string;
  endpoint_key: string;
  subject: string;
  position: number;
  event_id: string;
  type: string;
  task_id: string | null;
}

/** Adds deliveries that are due now; skips events of which the endpoint has one. */
export async function insertDeliveries(tx: Knex.Transaction, deliveries: NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await tx('webhook_deliveries').insert(deliveries).onConflict(['endpoint_key', 'event_id']).ignore();
}

/** The same, but failed and held deliveries become due again. @returns the number of deliveries that became due */
export async function insertOrRepeat(tx: Knex.Transaction, deliveries: NewDelivery[]): Promise<number> {
  if (deliveries.length === 0) return 0;
  // Locks no row of a delivered or running delivery.
  const added: unknown[] = await tx('webhook_deliveries')
    .insert(deliveries)
    .onConflict(['endpoint_key', 'event_id'])
    .ignore()
    .returning('delivery_id');
  const repeated = await tx('webhook_deliveries')
    .where({ endpoint_key: deliveries[0]?.endpoint_key })
    .whereRaw('event_id = any(?)', [deliveries.map(({ event_id }) => event_id)])
    .whereIn('state', ['failed', 'held'])
    .update({
      state: 'pending',
      lease_until: tx.fn.now(),
      failures: 0,
      begun_at: tx.fn.now(),
      attempt: tx.raw('attempt + 1'),
    });
  return added.length + repeated;
}
