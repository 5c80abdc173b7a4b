declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';

  /** The dialect as the documentation of knex says to extend it; what it declares of itself is less than it has. */
  export default class PostgresClient {
    constructor(config: Knex.Config);
    pool: { numFree: () => number } | undefined;
    config: Knex.Config;
    acquireConnection(): Promise<unknown>;
    _query(connection: unknown, query: { sql?: string }): Promise<unknown>;
  }
}
