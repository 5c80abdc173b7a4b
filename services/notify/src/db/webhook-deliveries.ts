import type { Knex } from 'knex';
import type { Attempt, DeliveryState } from '../domain/delivery.ts';
import type { LoggedEvent } from '../domain/event.ts';
import type { EndpointRow } from './webhook-endpoints.ts';

/** A delivery in the form for its owner. */
export interface DeliveryRow {
  delivery_id: string;
  event_id: string;
  type: string;
  state: DeliveryState;
  attempts: Attempt[];
  lease_until: Date;
  created_at: Date;
}

const TABLE = 'webhook_deliveries';
const SHOWN = 'delivery_id, event_id, type, state, attempts, lease_until, created_at';

export interface DeliveryRange {
  endpointKey: string;
  states: readonly DeliveryState[];
  /** The last delivery of the previous page. */
  before: string | undefined;
  limit: number;
}

/** Deliveries of an endpoint, newest first; each state is queried separately. */
export async function listDeliveries(db: Knex, { states, before, ...range }: DeliveryRange): Promise<DeliveryRow[]> {
  const { rows } = await db.raw<{ rows: DeliveryRow[] }>(
    `select found.* from unnest(:states::text[]) as wanted(state)
      cross join lateral (
        select ${SHOWN} from webhook_deliveries
         where endpoint_key = :endpointKey and state = wanted.state
           and (:before::uuid is null or delivery_id < :before::uuid)
         order by delivery_id desc limit :limit) as found
      order by delivery_id desc limit :limit`,
    { ...range, states: [...states], before: before ?? null },
  );
  return rows;
}

/** Limits of concurrent webhooks from one process, for an endpoint and for a subject. */
export interface ClaimBounds {
  limit: number;
  leaseMs: number;
  perEndpoint: number;
  perSubject: number;
  /** Running webhooks, by endpoint and by subject. */
  busy: { endpoints: ReadonlyMap<string, number>; subjects: ReadonlyMap<string, number> };
}

/** A delivery with the data of its request. The event is absent when it is no longer in the log. */
export interface ClaimedDelivery
  extends
    Pick<
      EndpointRow,
      'endpoint_key' | 'subject' | 'endpoint_id' | 'url_box' | 'host' | 'secret_box' | 'old_secret_box'
    >,
    Pick<LoggedEvent, 'event_id' | 'type' | 'position'> {
  delivery_id: string;
  /** Fencing token of the claim. */
  attempt: number;
  failures: number;
  age_ms: number;
  attempts: Attempt[];
  occurred_at: Date | null;
  data: string | null;
}

/** Selects the data of the requests of claimed deliveries. */
const requestsOf = (claims: string) =>
  `select c.delivery_id, c.endpoint_key, c.subject, c.event_id, c.type, c.position, c.attempt, c.failures, c.attempts,
          extract(epoch from now() - c.begun_at)::float8 * 1000 as age_ms,
          e.endpoint_id, e.url_box, e.host, e.secret_box,
          case when e.old_secret_until > now() then e.old_secret_box end as old_secret_box,
          v.occurred_at, v.data
     from ${claims} as c
     join webhook_endpoints as e using (endpoint_key)
     left join events as v on v.subject = c.subject and v.position = c.position and v.event_id = c.event_id`;

/**
 * Claims due deliveries, each for the time of a lease, up to the limits of an endpoint and of a subject. Subjects with
 * the fewest running webhooks come first, then their endpoints with the fewest: an endpoint that has much to send, or
 * hangs, leaves slots for the others.
 */
export async function claimDeliveries(db: Knex, { busy, leaseMs, ...bounds }: ClaimBounds): Promise<ClaimedDelivery[]> {
  const { rows } = await db.raw<{ rows: ClaimedDelivery[] }>(
    `with busy_endpoints as (select * from unnest(:endpoints::uuid[], :endpointCounts::int[]) as b(endpoint_key, n)),
     busy_subjects as (select * from unnest(:subjects::text[], :subjectCounts::int[]) as b(subject, n)),
     next as (
       select next.delivery_id, next.lease_until, e.subject, coalesce(s.n, 0) as busy,
              coalesce(b.n, 0) + row_number() over (partition by e.endpoint_key order by next.lease_until) as load
         from webhook_endpoints as e
         left join busy_endpoints as b using (endpoint_key)
         left join busy_subjects as s on s.subject = e.subject
        cross join lateral (
          select d.delivery_id, d.lease_until from webhook_deliveries as d
           where d.endpoint_key = e.endpoint_key and d.state = 'pending' and d.lease_until <= now()
           order by d.lease_until limit greatest(:perEndpoint - coalesce(b.n, 0), 0)
           for update skip locked) as next
        where e.is_enabled),
     due as (
       select *, row_number() over (partition by subject order by load, lease_until) as place from next),
     claimed as (
       update webhook_deliveries as d
          set lease_until = now() + make_interval(secs => :leaseS), attempt = d.attempt + 1
        where d.delivery_id in (
                select delivery_id from due where busy + place <= :perSubject
                 order by busy + place, lease_until limit :limit)
        returning d.*)
     ${requestsOf('claimed')}`,
    {
      ...bounds,
      leaseS: leaseMs / 1000,
      endpoints: [...busy.endpoints.keys()],
      endpointCounts: [...busy.endpoints.values()],
      subjects: [...busy.subjects.keys()],
      subjectCounts: [...busy.subjects.values()],
    },
  );
  return rows;
}

type Claim = Pick<ClaimedDelivery, 'delivery_id' | 'attempt'>;

const tokenOf = ({ delivery_id, attempt }: Claim) => ({ delivery_id, attempt });

const ofClaim = (db: Knex, claim: Claim) => db(TABLE).where({ ...tokenOf(claim), state: 'pending' });

/**
 * Stores the outcome of a claimed delivery, unless another process has claimed it since. A webhook that was delivered
 * while its endpoint was disabled is not sent again.
 */
export async function endDelivery(
  db: Knex,
  claim: Claim,
  { state, attempts, failures }: { state: 'delivered' | 'failed'; attempts: Attempt[]; failures: number },
): Promise<void> {
  const rows =
    state === 'delivered' ? db(TABLE).where(tokenOf(claim)).whereIn('state', ['pending', 'held']) : ofClaim(db, claim);
  await rows.update({ state, failures, attempts: JSON.stringify(attempts) });
}

/** Stores a failed attempt; the next one is due after a pause. */
export async function postponeDelivery(
  db: Knex,
  claim: Claim,
  { pauseMs, attempts, failures }: { pauseMs: number; attempts: Attempt[]; failures: number },
): Promise<void> {
  const lease_until = db.raw('now() + make_interval(secs => ?)', [pauseMs / 1000]);
  await ofClaim(db, claim).update({ lease_until, failures, attempts: JSON.stringify(attempts) });
}

/**
 * A claimed delivery in its present state; undefined when it is no longer to be sent, or another process has claimed
 * it.
 */
export async function readClaim(db: Knex, claim: Claim): Promise<ClaimedDelivery | undefined> {
  const { rows } = await db.raw<{ rows: ClaimedDelivery[] }>(
    `${requestsOf(TABLE)}
      where c.delivery_id = :delivery_id and c.attempt = :attempt and c.state = 'pending' and e.is_enabled`,
    tokenOf(claim),
  );
  return rows[0];
}

/** Releases a claim: the delivery is due again. */
export async function releaseDelivery(db: Knex, claim: Claim): Promise<void> {
  await ofClaim(db, claim).update({ lease_until: db.fn.now() });
}

/** Removes a claimed delivery whose event is no longer in the log. @returns whether it existed */
export async function dropDelivery(db: Knex, claim: Claim): Promise<boolean> {
  return (await ofClaim(db, claim).delete()) === 1;
}

/**
 * Makes a delivery of a subject due now. An attempt that is still running no longer affects it.
 * @returns the state of its endpoint; undefined when there is no such delivery
 */
export async function repeatDelivery(
  tx: Knex.Transaction,
  subject: string,
  deliveryId: string,
): Promise<{ is_enabled: boolean } | undefined> {
  const { rows } = await tx.raw<{ rows: { is_enabled: boolean }[] }>(
    `with endpoint as (
       select e.endpoint_key, e.is_enabled from webhook_deliveries as d join webhook_endpoints as e using (endpoint_key)
        where d.delivery_id = :deliveryId and d.subject = :subject
          and exists (select from events as v where v.subject = d.subject and v.position = d.position)
          for no key update of e),
     repeated as (
       update webhook_deliveries as d
          set state = 'pending', lease_until = now(), failures = 0, begun_at = now(), attempt = d.attempt + 1
         from endpoint as e
        where d.delivery_id = :deliveryId and d.endpoint_key = e.endpoint_key and e.is_enabled)
     select is_enabled from endpoint`,
    { subject, deliveryId },
  );
  return rows[0];
}

/** Removes up to `limit` deliveries of a task. @returns their number, and the number of undelivered ones */
export async function removeDeliveriesOf(
  db: Knex,
  taskId: string,
  limit: number,
): Promise<{ removed: number; waiting: number }> {
  const { rows } = await db.raw<{ rows: [{ removed: number; waiting: number }] }>(
    `with removed as (
       delete from webhook_deliveries where delivery_id in (
         select delivery_id from webhook_deliveries where task_id = :taskId limit :limit)
       returning state)
     select count(*)::int as removed, count(*) filter (where state in ('pending', 'held'))::int as waiting
       from removed`,
    { taskId, limit },
  );
  return rows[0];
}

/** Removes up to `limit` deliveries of deleted endpoints. @returns their number */
export async function removeDeliveriesOfDeleted(db: Knex, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from webhook_deliveries where delivery_id in (
       select d.delivery_id from webhook_deliveries as d join webhook_endpoints as e using (endpoint_key)
        where e.deleted_at is not null limit :limit for update of d skip locked)`,
    { limit },
  );
  return result.rowCount;
}

/** Removes up to `limit` deliveries that were created more than `days` ago. @returns their number */
export async function removeOldDeliveries(db: Knex, days: number, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from webhook_deliveries where delivery_id in (
       select delivery_id from webhook_deliveries where created_at < vision_now() - make_interval(days => :days)
        order by created_at limit :limit for update skip locked)`,
    { days, limit },
  );
  return result.rowCount;
}

/** SQL that is true while a delivery is due. */
export const SOME_DUE = `exists (select from webhook_deliveries where state = 'pending' and lease_until <= now())`;

/** State of webhooks over all subjects. */
export interface WebhookState {
  /** Deliveries that are pending, counted up to 10,000. */
  pending: number;
  /** Time for which the oldest due delivery has waited, of those that could have been sent. */
  overdue_s: number;
  /** Endpoints that were disabled because they failed or are gone. */
  disabled: number;
}

/** Deliveries to `full` endpoints and subjects wait for their receivers, not for this process. */
export async function readWebhookState(
  db: Knex,
  full: { endpoints: string[]; subjects: string[] },
): Promise<WebhookState> {
  const { rows } = await db.raw<{ rows: [WebhookState] }>(
    `select
       (select count(*)::int from (select from webhook_deliveries where state = 'pending' limit 10000) as counted) as pending,
       greatest(0, extract(epoch from now() - (
         select min(next.lease_until) from webhook_endpoints as e
          cross join lateral (
            select lease_until from webhook_deliveries as d
             where d.endpoint_key = e.endpoint_key and d.state = 'pending' order by lease_until limit 1) as next
          where e.is_enabled and e.endpoint_key <> all(:endpoints::uuid[]) and e.subject <> all(:subjects::text[]))
       ))::float8 as overdue_s,
       (select count(*)::int from webhook_endpoints
         where not is_enabled and disabled_reason in ('failing', 'gone')) as disabled`,
    { endpoints: full.endpoints, subjects: full.subjects },
  );
  return rows[0];
}
