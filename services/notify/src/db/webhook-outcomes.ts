import type { Knex } from 'knex';
import { DISABLE_AFTER } from '../domain/delivery.ts';
import type { Attempt } from '../domain/delivery.ts';
import type { ClaimedDelivery } from './webhook-deliveries.ts';

/** Outcome of an attempt at a claimed delivery. */
export interface AttemptOutcome {
  claimed: Pick<ClaimedDelivery, 'delivery_id' | 'attempt' | 'endpoint_key' | 'url_box'>;
  attempts: Attempt[];
  failures: number;
  /** Time until the next attempt; undefined when there is none. */
  pauseMs?: number | undefined;
}

/** Columns of the outcomes that both statements read. */
const columnsOf = (outcomes: readonly AttemptOutcome[]) => ({
  ids: outcomes.map(({ claimed }) => claimed.delivery_id),
  claims: outcomes.map(({ claimed }) => claimed.attempt),
  failures: outcomes.map(({ failures }) => failures),
  attempts: outcomes.map(({ attempts }) => JSON.stringify(attempts)),
});

/**
 * Stores deliveries whose receivers answered, in one statement. It waits for no lock: deliveries that another
 * transaction has locked, that have another claim by now, or whose endpoint has failures to clear stay unchanged.
 * @returns whether each was stored
 */
export async function storeDelivered(db: Knex, outcomes: readonly AttemptOutcome[]): Promise<boolean[]> {
  const { rows } = await db.raw<{ rows: StoredRow[] }>(
    `with outcomes as (
       select * from unnest(:ids::uuid[], :claims::int[], :failures::int[], :attempts::jsonb[])
           as o(delivery_id, attempt, failures, attempts)),
     unlocked as materialized (
       select o.* from outcomes as o
         join webhook_deliveries as d using (delivery_id)
         join webhook_endpoints as e using (endpoint_key)
        where d.attempt = o.attempt and d.state in ('pending', 'held')
          and e.failing_since is null and e.failures = 0
          for no key update of d skip locked)
     update webhook_deliveries as d set state = 'delivered', failures = u.failures, attempts = u.attempts
       from unlocked as u where d.delivery_id = u.delivery_id
     returning d.delivery_id`,
    columnsOf(outcomes),
  );
  return storedOf(outcomes, rows);
}

/**
 * Stores failed attempts in one statement, and counts them for their endpoints. It waits for no lock either; it also
 * skips failures that may disable an endpoint, and endpoints that are disabled or have another address by now.
 * @returns whether each was stored
 */
export async function storeFailed(db: Knex, outcomes: readonly AttemptOutcome[]): Promise<boolean[]> {
  const { rows } = await db.raw<{ rows: StoredRow[] }>(
    `with outcomes as (
       select * from unnest(:ids::uuid[], :claims::int[], :failures::int[], :attempts::jsonb[],
                            :endpointKeys::uuid[], :urlBoxes::bytea[], :pausesS::float8[])
           as o(delivery_id, attempt, failures, attempts, endpoint_key, url_box, pause_s)),
     asked as (select endpoint_key, url_box, count(*) as failures from outcomes group by endpoint_key, url_box),
     endpoints as materialized (
       select a.endpoint_key, a.url_box from asked as a
         join webhook_endpoints as e on e.endpoint_key = a.endpoint_key and e.url_box = a.url_box
        where e.is_enabled
          and (e.failing_since is null or e.failing_since > now() - make_interval(hours => :deadHours)
               or e.failures + a.failures < :deadFailures)
          for no key update of e skip locked),
     unlocked as materialized (
       select o.* from outcomes as o
         join endpoints using (endpoint_key, url_box)
         join webhook_deliveries as d using (delivery_id)
        where d.attempt = o.attempt and d.state = 'pending'
          for no key update of d skip locked),
     counted as (
       update webhook_endpoints as e
          set failing_since = coalesce(e.failing_since, now()), failures = e.failures + n.failures
         from (select endpoint_key, count(*)::int as failures from unlocked group by endpoint_key) as n
        where e.endpoint_key = n.endpoint_key)
     update webhook_deliveries as d
        set state = case when u.pause_s is null then 'failed' else 'pending' end,
            lease_until = coalesce(now() + make_interval(secs => u.pause_s), d.lease_until),
            failures = u.failures, attempts = u.attempts
       from unlocked as u where d.delivery_id = u.delivery_id
     returning d.delivery_id`,
    {
      ...columnsOf(outcomes),
      endpointKeys: outcomes.map(({ claimed }) => claimed.endpoint_key),
      urlBoxes: outcomes.map(({ claimed }) => claimed.url_box),
      pausesS: outcomes.map(({ pauseMs }) => (pauseMs === undefined ? null : pauseMs / 1000)),
      deadHours: DISABLE_AFTER.hours,
      deadFailures: DISABLE_AFTER.failures,
    },
  );
  return storedOf(outcomes, rows);
}

interface StoredRow {
  delivery_id: string;
}

function storedOf(outcomes: readonly AttemptOutcome[], rows: readonly StoredRow[]): boolean[] {
  const stored = new Set(rows.map(({ delivery_id }) => delivery_id));
  return outcomes.map(({ claimed }) => stored.has(claimed.delivery_id));
}
