import type { ConnectionOptions } from 'node:tls';
import knexModule from 'knex';
import type { Knex } from 'knex';
import pg from 'pg';
import { MeasuredClient } from './measured-client.ts';
import { watchPool } from './pool-signals.ts';

/** How to reach a database. */
export interface DatabaseConnection {
  /** `postgres://user:password@host:port/database`; may lead to a pooler that hands out connections by transaction. */
  url: string;
  /** An address that bypasses such a pooler, for session state such as locks. */
  sessionUrl?: string | undefined;
  /** Maximum number of connections of this process. */
  poolMax?: number;
  /** TLS with these authorities; no TLS when absent. */
  tls?: ConnectionOptions | undefined;
}

export interface DbOptions extends DatabaseConnection {
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The server ends a statement after this time; 0 = never (migrations). */
  statementTimeoutMs?: number;
  /** Longest wait for a free connection of the pool or for a new one. */
  acquireTimeoutMs?: number;
  /** Shifts `vision_now()`, for tests. `0 seconds` is not sent at all: not every pooler lets options pass. */
  clockOffset?: string;
  /** Replaces the knex client: the simulation uses one that decides when each statement runs. */
  client?: typeof MeasuredClient;
}

/** The server ends a statement that waits this long for a lock. */
const LOCK_MS = 3_000;
/** The server ends a transaction that waits this long for its client. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/**
 * Opens a lazy connection pool: it connects with the first query, so a service starts while the database is
 * unavailable.
 */
export function createDb(options: DbOptions): Knex {
  const { statementTimeoutMs = 5_000, acquireTimeoutMs = 5_000 } = options;
  const db = knexModule.knex({
    client: (options.client ?? MeasuredClient) as unknown as typeof Knex.Client,
    connection: {
      connectionString: options.url,
      options: clockOption(options.clockOffset),
      application_name: options.applicationName,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      lock_timeout: LOCK_MS,
      connectionTimeoutMillis: acquireTimeoutMs,
      // The client gives up 3 s after the server should have: covers a peer that vanished without a reset.
      ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + 3_000 } : {}),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: { getTypeParser: typeParser },
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max: options.poolMax ?? 10, idleTimeoutMillis: 30_000 },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Everything knex would print is also thrown, and is logged where it is caught.
    log: { debug: quiet, warn: quiet, error: quiet, deprecate: quiet },
  });
  // Set afterwards: knex copies its settings, and a copy would not read renewed certificates.
  (db.client as { connectionSettings: { ssl?: ConnectionOptions | undefined } }).connectionSettings.ssl = options.tls;
  if (options.sessionUrl !== undefined) Object.assign(db.client as object, { sessionUrl: options.sessionUrl });
  watchPool(db);
  return db;
}

/** `-c name=value`, blanks in the value escaped (PostgreSQL documentation, `options` of a connection). */
function clockOption(offset = '0 seconds'): string | undefined {
  if (offset === '0 seconds') return undefined;
  return `-c vision.clock_offset=${offset.replaceAll(' ', String.raw`\ `)}`;
}

const quiet = () => undefined;

const INT8 = 20;

// int8 arrives as text by default; ids and counts of this system fit a number, anything larger becomes a bigint instead
// of a wrong number.
function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8 && format !== 'binary') return parseInt8;
  return (pg.types.getTypeParser as (oid: number, format?: string) => (value: string) => unknown)(oid, format);
}

function parseInt8(value: string): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}
