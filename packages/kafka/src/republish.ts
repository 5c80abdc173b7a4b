import type { Knex } from 'knex';
import type { Republished, RepublishRequest } from '@vision/contracts/outbox';
import { storedContext } from '@vision/shared/telemetry/trace-context';
import type { OutboxRow } from './outbox.ts';
import type { EventProducer, TracedEvent } from './producer.ts';

export interface RepublishDeps {
  db: Knex;
  producer: Pick<EventProducer, 'publishTraced'>;
}

/** A published row; its date in microseconds too, because the instants of the database are finer than a `Date`. */
interface PublishedRow extends OutboxRow {
  published_us: string;
  published_at: Date;
}

/** Records in one request to Kafka, as the relay sends them. */
const BATCH = 200;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Publishes events again, page by page, in the order in which they were published. The rows stay as they are, so the
 * relay goes on with new events beside it. What waits to be published is the relay's.
 */
export async function republish(deps: RepublishDeps, request: RepublishRequest): Promise<Republished> {
  if (request.dry_run) return countPublished(deps.db, request);
  const rows = await readPage(deps.db, request);
  for (let at = 0; at < rows.length; at += BATCH) {
    await deps.producer.publishTraced(rows.slice(at, at + BATCH).map(toTraced));
  }
  const last = rows.at(-1);
  const byType: Record<string, number> = {};
  for (const { type } of rows) byType[type] = (byType[type] ?? 0) + 1;
  return {
    events: rows.length,
    by_type: byType,
    first_at: rows[0]?.published_at.toISOString(),
    last_at: last?.published_at.toISOString(),
    next_cursor: last && rows.length === request.limit ? `${last.published_us}/${last.id}` : '',
  };
}

async function readPage(db: Knex, { from, to, after, limit }: RepublishRequest): Promise<PublishedRow[]> {
  const [afterUs, afterId] = after?.split('/') ?? ['0', '0'];
  const { rows } = await db.raw<{ rows: PublishedRow[] }>(
    `select id, event_id, topic, key, type, source, payload, traceparent, tracestate, created_at, published_at,
            (extract(epoch from published_at) * 1000000)::bigint::text as published_us
       from outbox
      where published_at >= :from and published_at < :to
        and (published_at, id) > (timestamptz 'epoch' + :afterUs::bigint * interval '1 microsecond', :afterId::bigint)
      order by published_at, id limit :limit`,
    { from, to, afterUs, afterId, limit },
  );
  return rows;
}

/** Counts hour by hour: days of a busy service are more than one statement may take. */
async function countPublished(db: Knex, { from, to }: RepublishRequest): Promise<Republished> {
  const { first, last } = await endsOf(db, { from, to });
  if (!first || !last) return { events: 0, by_type: {}, next_cursor: '' };
  const byType: Record<string, number> = {};
  for (let lower = from; lower < to;) {
    const reached = Math.max(Date.parse(lower), first.getTime()) + HOUR_MS;
    const upper = reached > last.getTime() ? to : new Date(reached).toISOString();
    for (const { type, events } of await countOfTypes(db, lower, upper)) byType[type] = (byType[type] ?? 0) + events;
    lower = upper;
  }
  return {
    events: Object.values(byType).reduce((sum, events) => sum + events, 0),
    by_type: byType,
    first_at: first.toISOString(),
    last_at: last.toISOString(),
    next_cursor: '',
  };
}

async function endsOf(db: Knex, range: { from: string; to: string }): Promise<{ first?: Date; last?: Date }> {
  const { rows } = await db.raw<{ rows: { first: Date | null; last: Date | null }[] }>(
    `select min(published_at) as first, max(published_at) as last
       from outbox where published_at >= :from and published_at < :to`,
    range,
  );
  const [ends] = rows;
  return ends?.first && ends.last ? { first: ends.first, last: ends.last } : {};
}

async function countOfTypes(db: Knex, from: string, to: string): Promise<{ type: string; events: number }[]> {
  const { rows } = await db.raw<{ rows: { type: string; events: number }[] }>(
    `select type, count(*)::int as events
       from outbox where published_at >= :from and published_at < :to group by type`,
    { from, to },
  );
  return rows;
}

function toTraced(row: PublishedRow): TracedEvent {
  const { event_id: id, topic, key, type, source, payload: data, created_at: time } = row;
  return {
    event: { id, topic, key, type, source, data, time },
    context: storedContext(row),
    attributes: { 'outbox.republished': 1 },
  };
}
