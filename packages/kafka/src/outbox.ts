import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { Migration } from '@vision/shared/db/migrate';
import { captureTrace } from '@vision/shared/telemetry/trace-context';

/**
 * A fact to be published after the commit. Spread an event definition into it: `{ ...taskChanged, key, source, data }`.
 */
export interface NewEvent<T> {
  topic: string;
  type: string;
  /** When given, `data` is checked before it is stored. */
  schema?: z.ZodType<T>;
  /** The task id. */
  key: string;
  /** The service. */
  source: string;
  data: T;
  /** A fresh one when left out. */
  id?: string;
}

export interface OutboxRow {
  id: number;
  event_id: string;
  topic: string;
  key: string;
  type: string;
  source: string;
  payload: unknown;
  traceparent: string | null;
  tracestate: string | null;
  created_at: Date;
}

/**
 * Stores an event in the transaction of the change it tells about; the relay publishes it. Write the changed row first:
 * its lock makes a second writer of the same task wait, so outbox ids follow the commit order of each task.
 * @returns the event id
 * @throws Error when the data breaks the schema or is too large for Kafka; both are faults of the caller's code.
 */
export async function appendEvent<T>(tx: Knex.Transaction, event: NewEvent<T>): Promise<string> {
  const row = toOutboxRow(event);
  await tx('outbox').insert(row);
  return row.event_id;
}

/** Rows of one statement. */
const ROWS = 200;

/** The same for many events, which keep their order. */
export async function appendEvents<T>(tx: Knex.Transaction, events: readonly NewEvent<T>[]): Promise<void> {
  const rows = events.map(toOutboxRow);
  for (let from = 0; from < rows.length; from += ROWS) await tx('outbox').insert(rows.slice(from, from + ROWS));
}

/** What a row of the table is made of; the payload as text. */
export type NewOutboxRow = Pick<OutboxRow, 'event_id' | 'topic' | 'key' | 'type' | 'source'> & {
  payload: string;
  traceparent: string | null;
  tracestate: string | null;
};

/**
 * The row of an event, for a statement that stores it together with the change.
 * @throws Error as `appendEvent` does.
 */
export function toOutboxRow<T>(event: NewEvent<T>): NewOutboxRow {
  event.schema?.parse(event.data);
  const payload = JSON.stringify(event.data);
  // A record the broker refuses would hold up everything behind it, so it must not get as far as the table.
  if (payload.length > MAX_PAYLOAD_CHARS)
    throw new Error(`event ${event.type} has ${payload.length} characters, too many for Kafka`);
  return {
    event_id: event.id ?? randomUUID(),
    topic: event.topic,
    key: event.key,
    type: event.type,
    source: event.source,
    payload,
    ...captureTrace(),
  };
}

/** The table; every service that publishes puts it into its list of migrations. */
export const outboxMigration: Migration = {
  name: 'shared-outbox',
  up: async (db) => {
    await db.raw(`
      create table if not exists outbox (
        id bigint generated always as identity primary key,
        event_id uuid not null,
        topic text not null,
        key text not null,
        type text not null,
        source text not null,
        payload jsonb not null,
        traceparent text,
        tracestate text,
        created_at timestamptz not null default now(),
        published_at timestamptz
      )`);
    await db.raw('create index if not exists outbox_unpublished on outbox (id) where published_at is null');
    await db.raw('create index if not exists outbox_published on outbox (published_at) where published_at is not null');
  },
  down: async (db) => {
    await db.raw('drop table if exists outbox');
  },
};

const MAX_PAYLOAD_CHARS = 250_000;
