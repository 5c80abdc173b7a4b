declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';

  /** The dialect as the documentation of knex says to extend it; what it declares of itself is less than it has. */
  export default class PostgresClient {
    constructor(config: Knex.Config);
    pool: { numFree: () => number } | undefined;
    config: Knex.Config;
    acquireConnection(): Promise<unknown>;
    acquireRawConnection(): Promise<RawConnection>;
    /** Opens a connection, which `acquireRawConnection` then prepares. */
    _acquireOnlyConnection(): Promise<RawConnection>;
    destroyRawConnection(connection: RawConnection): Promise<void>;
    /** Asked before a free connection is handed out; one that is refused is closed. */
    validateConnection(connection: RawConnection): boolean;
    _query(connection: RawConnection, query: { sql?: string }): Promise<unknown>;
  }

  /** What is used of a connection of `pg`. */
  export interface RawConnection {
    query: (text: string) => Promise<{ rows: Record<string, unknown>[] }>;
    end: () => Promise<void>;
  }
}
