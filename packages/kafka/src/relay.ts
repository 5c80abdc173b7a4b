import type { Knex } from 'knex';
import { createWakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { DueWork } from '@vision/shared/db/due-work';
import type { DbSession } from '@vision/shared/db/session';
import type { Logger } from '@vision/shared/logger';
import type { OutboxRow } from './outbox.ts';
import type { EventProducer, TracedEvent } from './producer.ts';
import { createLeadership } from './relay-leadership.ts';
import { observe } from '@vision/shared/telemetry/instruments';
import { outboxMetrics } from '@vision/shared/telemetry/shared-metrics';
import { storedContext } from '@vision/shared/telemetry/trace-context';

export interface RelayOptions {
  db: Knex;
  producer: EventProducer;
  logger: Logger;
  /**
   * Longest pause between queries of an empty outbox; code that appends wakes the relay in any process, and the service
   * polls for unannounced events (`dueWork`).
   */
  intervalMs: number;
  /** Delay after a wake-up, so that events that arrive one by one are published together. */
  gatherMs?: number;
  /** Retention time of published rows, which can be published again. */
  keepPublishedMs?: number;
}

export interface Relay {
  start: () => void;
  /** Polls at once; call it after a commit that appended events. */
  wake: () => void;
  /** Finds events without a notification. */
  dueWork: DueWork;
  /** Whether this process publishes, not another one. */
  isActive: () => boolean;
  /** Resolves after the current batch is published and marked. */
  stop: () => Promise<void>;
}

/**
 * Publishes the outbox of one database, at least once and in id order: publish, wait for the
 * acknowledgement, then mark.
 *
 * One relay per database is active: the holder of the advisory lock. The others stand by. Rows are read and marked on
 * the connection that holds the lock, so a relay that lost it cannot mark. There is no cursor: every poll takes the
 * unpublished rows with the lowest ids, so a transaction that commits late with a low id is not skipped. After a
 * failover events may be repeated or overtake each other; consumers use id and version.
 *
 * A process that appends wakes its own relay; a standby relay notifies the active one through the database. No
 * notification was sent for an event that waited longer (its process died, or runs an older release): for a while
 * after it the relay polls often.
 */
export function createRelay(options: RelayOptions): Relay {
  const { db, producer, logger, intervalMs, gatherMs = 0 } = options;
  const { keepPublishedMs = 7 * DAY_MS } = options;
  const wakeUp = createWakeUp();
  const lead = createLeadership({ db, logger, wake: wakeUp.wake });
  const gauges = watchOutbox(db);
  let nextCleanUp = 0;
  let oftenUntil = 0;
  const pauseMs = () => {
    if (!lead.isHeld()) return Math.min(STANDBY_MS, intervalMs);
    return performance.now() < oftenUntil ? Math.min(OFTEN_MS, intervalMs) : intervalMs;
  };
  const poller = createPoller({
    name: 'outbox-relay',
    intervalMs: pauseMs,
    logger,
    maxBackoffMs: 5_000,
    wakeUp,
    run: async () => {
      const session = await lead.session();
      if (!session) {
        await gauges.standBy();
        return 0;
      }
      const rows = await unpublished(session, BATCH_SIZE);
      gauges.set(rows);
      if ((rows[0]?.waited_ms ?? 0) > UNANNOUNCED_MS) oftenUntil = performance.now() + OFTEN_FOR_MS;
      await producer.publishTraced(rows.map(toTraced));
      await markPublished(session, rows);
      // Otherwise the gauges would show them as waiting until the next poll, which may be long after.
      gauges.set([]);
      if (performance.now() >= nextCleanUp) {
        // Removes a backlog of old rows in steps, between polls for new events.
        const isMore = (await deletePublished(session, keepPublishedMs)) === REMOVED_AT_ONCE;
        nextCleanUp = isMore ? 0 : performance.now() + Math.min(60_000, keepPublishedMs);
      }
      // Code that appends wakes it, so after less than a batch no query is due.
      return rows.length === BATCH_SIZE || nextCleanUp === 0 ? 1 : 0;
    },
  });
  const wakes = gather(() => (lead.isHeld() ? poller.wake() : lead.tellLeader()), gatherMs);
  return {
    start: poller.start,
    wake: wakes.wake,
    dueWork: {
      isDue: EVENTS_WAIT,
      // Every process runs the query of `isDue`, so the one with the active relay wakes it itself.
      wake: () => {
        if (lead.isHeld()) poller.wake();
      },
    },
    isActive: lead.isHeld,
    stop: async () => {
      wakes.stop();
      await poller.stop();
      gauges.stop();
      await lead.release();
    },
  };
}

/** Combines all wake-ups within `ms`. */
function gather(wake: () => void, ms: number): { wake: () => void; stop: () => void } {
  let gathering: NodeJS.Timeout | undefined;
  const wakeLater = () => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      wake();
    }, ms);
  };
  return { wake: ms === 0 ? wake : wakeLater, stop: () => clearTimeout(gathering) };
}

/** A row and how long it had waited when it was read, by the clock that its date comes from. */
interface WaitingRow extends OutboxRow {
  waited_ms: number;
}

/** In SQL; the index of what waits answers it. */
const EVENTS_WAIT = 'exists (select from outbox where published_at is null)';

async function unpublished(session: DbSession, limit: number): Promise<WaitingRow[]> {
  return session.query<WaitingRow>(
    `select id, event_id, topic, key, type, source, payload, traceparent, tracestate, created_at,
            (extract(epoch from clock_timestamp() - created_at) * 1000)::float8 as waited_ms
       from outbox where published_at is null order by id limit $1`,
    [limit],
  );
}

/** Age of the oldest event that waits, in seconds. */
async function oldestAge(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { age: number }[] }>(
    `select greatest(0, extract(epoch from clock_timestamp() - created_at))::float8 as age
       from outbox where published_at is null order by id limit 1`,
  );
  return rows[0]?.age ?? 0;
}

async function markPublished(session: DbSession, rows: OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  await session.query('update outbox set published_at = now() where id = any($1::bigint[])', [
    rows.map((row) => row.id),
  ]);
}

async function deletePublished(session: DbSession, keepMs: number): Promise<number> {
  const [removed] = await session.query<{ count: number }>(
    `with removed as (
       delete from outbox where id in (
         select id from outbox where published_at < now() - make_interval(secs => $1) order by published_at limit $2)
       returning 1)
     select count(*)::int as count from removed`,
    [keepMs / 1000, REMOVED_AT_ONCE],
  );
  return removed?.count ?? 0;
}

/** Rows of one query. */
const BATCH_SIZE = 200;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Interval between attempts of a standby relay; a relay that stops releases the lock at once. */
const STANDBY_MS = 1_000;
/** Interval between queries of a standby relay for the age of the outbox. */
const STANDBY_QUERY_MS = 10_000;
/** No notification was sent for an event that waited longer; the relay then polls often for a while. */
const UNANNOUNCED_MS = 1_000;
const OFTEN_MS = 200;
const OFTEN_FOR_MS = 60_000;
/** Rows per deletion. New events wait for its duration: some milliseconds. */
const REMOVED_AT_ONCE = 1_000;

function toTraced(row: WaitingRow): TracedEvent {
  return {
    event: {
      id: row.event_id,
      topic: row.topic,
      key: row.key,
      type: row.type,
      source: row.source,
      data: row.payload,
      time: row.created_at,
    },
    context: storedContext(row),
    // Time spent here is easily mistaken for a slow upstream.
    attributes: { 'outbox.lag_ms': Math.round(row.waited_ms) },
  };
}

/**
 * Gauges of a relay: age of the oldest waiting event in seconds, and number of waiting events (at most one batch). A
 * standby relay reports the age too, as the active one may hang or be cut off.
 */
function watchOutbox(db: Knex) {
  let rows: WaitingRow[] | undefined;
  let readAt = 0;
  let standbyAge: number | undefined;
  let nextQuery = 0;
  const ends = [
    observe(outboxMetrics.oldestAge, (tell) => {
      if (standbyAge !== undefined) tell(standbyAge);
      if (rows) tell(rows[0] ? (rows[0].waited_ms + performance.now() - readAt) / 1000 : 0);
    }),
    observe(outboxMetrics.waiting, (tell) => {
      if (rows) tell(rows.length);
    }),
  ];
  return {
    set: (seen: WaitingRow[]) => {
      rows = seen;
      readAt = performance.now();
      standbyAge = undefined;
    },
    standBy: async () => {
      rows = undefined;
      if (performance.now() < nextQuery) return;
      nextQuery = performance.now() + STANDBY_QUERY_MS;
      standbyAge = await oldestAge(db);
    },
    stop: () => ends.forEach((end) => end()),
  };
}
