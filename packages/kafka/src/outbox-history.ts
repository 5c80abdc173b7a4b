import type { Knex } from 'knex';
import type { Happening } from '@vision/contracts/history';
import type { Migration } from '@vision/shared/db/migrate';

/** Finds what was published of one task. A row gets its entry when it is published, so no insert is slower. */
export const outboxKeyMigration: Migration = {
  name: 'shared-outbox-key',
  config: { transaction: false },
  up: async (db) => {
    await db.raw('create index concurrently if not exists outbox_key on outbox (key) where published_at is not null');
  },
  down: async (db) => {
    await db.raw('drop index if exists outbox_key');
  },
};

interface EventRow {
  type: string;
  payload: { status?: string; version?: number };
  created_at: Date;
  published_at: Date | null;
}

/** The events of a task that are still kept: those that wait, and those published in the last days. */
export async function eventsOf(db: Knex, taskId: string): Promise<Happening[]> {
  const { rows } = await db.raw<{ rows: EventRow[] }>(
    `select type, payload, created_at, published_at from outbox where published_at is not null and key = :taskId
     union all
     select type, payload, created_at, published_at from outbox where published_at is null and key = :taskId`,
    { taskId },
  );
  return rows.map(({ type, payload, created_at: stored, published_at: published }) => ({
    at: (published ?? stored).toISOString(),
    what: published ? `event ${type} was published` : `event ${type} waits to be published`,
    details: { status: payload.status, version: payload.version, stored_at: stored.toISOString() },
  }));
}

/** Counting more would take long, and says no more. */
const COUNTED_AT_MOST = 10_000;

/** How many events wait to be published, and for how long the oldest has waited. */
export async function countWaiting(db: Knex): Promise<{ waiting: number; oldest_s: number }> {
  const { rows } = await db.raw<{ rows: { waiting: number; oldest_s: number }[] }>(
    `select count(*)::int as waiting,
            coalesce(greatest(0, extract(epoch from now() - min(created_at))), 0)::float8 as oldest_s
       from (select created_at from outbox where published_at is null order by id limit :atMost) as oldest`,
    { atMost: COUNTED_AT_MOST },
  );
  return rows[0] ?? { waiting: 0, oldest_s: 0 };
}
