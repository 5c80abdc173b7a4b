import type { Knex } from 'knex';
import type { Migration } from '../db/migrate.ts';

/**
 * Runs `fn` unless this consumer has already handled the event; effect and memory commit together. Only for effects that a
 * unique key or a version cannot make repeatable: those need no inbox.
 * @returns the result of `fn`, undefined for a repeat.
 */
export async function once<T>(
  tx: Knex.Transaction,
  consumer: string,
  eventId: string,
  fn: (tx: Knex.Transaction) => Promise<T>,
): Promise<T | undefined> {
  // A second delivery that runs at the same time waits here for the first one's commit and then finds the row.
  const inserted = await tx('inbox')
    .insert({ consumer, event_id: eventId })
    .onConflict(['consumer', 'event_id'])
    .ignore()
    .returning('event_id');
  return inserted.length === 1 ? fn(tx) : undefined;
}

/** Forgets events handled longer ago than the topic keeps them; returns how many. */
export async function pruneInbox(db: Knex, olderThanDays: number): Promise<number> {
  return db('inbox')
    .where('handled_at', '<', db.raw('now() - make_interval(days => ?)', [olderThanDays]))
    .delete();
}

/** The table; every service that calls `once` puts it into its list of migrations. */
export const inboxMigration: Migration = {
  name: 'shared-inbox',
  up: async (db) => {
    await db.raw(`
      create table if not exists inbox (
        consumer text not null,
        event_id text not null,
        handled_at timestamptz not null default now(),
        primary key (consumer, event_id)
      )`);
    await db.raw('create index if not exists inbox_handled_at on inbox (handled_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists inbox');
  },
};
