import type { Knex } from 'knex';

/** What a database did since its statistics began. */
export interface DatabaseWork {
  transactions: number;
  /** Rows that were inserted, updated or deleted. */
  rowVersions: number;
}

/** Of the database that `db` is connected to. Each question counts as one transaction more. */
export async function workOf(db: Knex): Promise<DatabaseWork> {
  const { rows } = await db.raw<{ rows: [DatabaseWork] }>(
    `select (xact_commit + xact_rollback)::float8 as "transactions",
            (tup_inserted + tup_updated + tup_deleted)::float8 as "rowVersions"
       from pg_stat_database where datname = current_database()`,
  );
  return rows[0];
}

/** Transactions of each database of the running system, by the name of its service. */
export async function transactionsByService(db: Knex): Promise<Map<string, number>> {
  const { rows } = await db.raw<{ rows: { service: string; transactions: number }[] }>(
    `select substr(datname, 8) as service, (xact_commit + xact_rollback)::float8 as transactions
       from pg_stat_database
      where datname in ('vision_gateway', 'vision_tasks', 'vision_images', 'vision_results', 'vision_quota',
                        'vision_inference')
      order by datname`,
  );
  return new Map(rows.map(({ service, transactions }) => [service, transactions]));
}
