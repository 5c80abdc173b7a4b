import type { Knex } from 'knex';

/**
 * Remembers these tables; calling the result brings them back as they were, in one transaction, beside all clients that
 * are connected: as an asynchronous standby does that had missed the last commits when it was promoted.
 */
export async function rememberTables(db: Knex, tables: string[]): Promise<() => Promise<void>> {
  const suffix = String(process.hrtime.bigint());
  const saved = tables.map((table) => ({ table, copy: `${table}_${suffix}` }));
  for (const { table, copy } of saved) await db.raw('create table ?? as table ??', [copy, table]);
  return () =>
    db.transaction(async (tx) => {
      for (const { table, copy } of saved) {
        await tx.raw('delete from ??', [table]);
        await tx.raw('insert into ?? overriding system value table ??', [table, copy]);
      }
    });
}
