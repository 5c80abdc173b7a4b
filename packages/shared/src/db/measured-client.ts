import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import type { RawConnection } from 'knex/lib/dialects/postgres/index.js';
import { callUpstream } from '../upstream/call-upstream.ts';
import { createConnectionTrust, readOnlyServer } from './connection-trust.ts';
import type { ConnectionTrust } from './connection-trust.ts';

/** The client of a transaction is a copy that shares connections only, so trust is found by these. */
const trustOf = new WeakMap<object, ConnectionTrust>();

/**
 * The client of knex, each of whose statements is a call to an upstream; and so is a wait for a connection. Statements
 * outside of a trace, such as those of pollers, are measured and have no span. A connection whose statement got no
 * answer, or that leads to a server which takes no writes, is never used again.
 */
export class MeasuredClient extends PostgresClient {
  readonly #trust = createConnectionTrust({
    poolMax: this.config.pool?.max ?? 10,
    statementTimeoutMs: limitOf(this.config.connection) ?? 0,
  });

  override acquireConnection(): Promise<unknown> {
    // One that is free is taken at once.
    if ((this.pool?.numFree() ?? 0) > 0) return super.acquireConnection();
    const limitMs = this.config.acquireConnectionTimeout;
    return callUpstream({ ...POSTGRES, operation: 'acquire', limitMs }, () => super.acquireConnection());
  }

  override async acquireRawConnection(): Promise<RawConnection> {
    this.#trust.checkMayOpen();
    const connection = await super.acquireRawConnection();
    try {
      await refuseReadOnly(connection);
    } catch (error) {
      this.#trust.noteUseless();
      throw error;
    }
    trustOf.set(connection, this.#trust);
    this.#trust.noteOpened(connection);
    return connection;
  }

  override validateConnection(connection: RawConnection): boolean {
    return this.#trust.isTrusted(connection);
  }

  override _query(connection: RawConnection, query: { sql?: string }): Promise<unknown> {
    return this.measured(connection, query.sql ?? '', () => super._query(connection, query));
  }

  /** Runs a statement on a connection of this pool that goes to the server by another way than knex. */
  async measured<T>(connection: object, sql: string, run: () => Promise<T>): Promise<T> {
    const trust = trustOf.get(connection);
    // A transaction would wait once more for the answer to its rollback.
    const failure = trust?.failureOf(connection);
    if (failure) throw failure;
    const limit = limitOf(this.config.connection);
    const call = {
      ...POSTGRES,
      operation: verbOf(sql),
      limitMs: limit === 0 ? undefined : limit,
      // Parameters are sent apart, so the text holds no values.
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql.slice(0, 2_000) },
    };
    return callUpstream(call, () => watched(connection, trust, run));
  }
}

async function watched<T>(connection: object, trust: ConnectionTrust | undefined, run: () => Promise<T>): Promise<T> {
  const sentAt = performance.now();
  trust?.noteSent(connection);
  try {
    const answer = await run();
    trust?.noteAnswer(connection);
    return answer;
  } catch (error) {
    trust?.noteFailure(connection, error, sentAt);
    throw error;
  }
}

/** Asks a new connection whether it may write, and ends it when it may not, or when it does not answer. */
export async function refuseReadOnly(connection: RawConnection): Promise<void> {
  try {
    const { rows } = await connection.query('show transaction_read_only');
    if (rows[0]?.['transaction_read_only'] === 'on') throw readOnlyServer();
  } catch (error) {
    void connection.end().catch(() => undefined);
    throw error;
  }
}

/** After which the server ends a statement, in milliseconds; 0: never. */
const limitOf = (connection: unknown) => (Object(connection) as { statement_timeout?: number }).statement_timeout;

const POSTGRES = { upstream: 'postgres', isPartOfTrace: true } as const;

const verbs = ['select', 'insert', 'update', 'delete', 'with', 'begin', 'commit', 'rollback', 'set', 'listen', 'lock'];

/** The kind of a statement, by its first word. */
function verbOf(sql: string): string {
  const word = /^\s*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? '';
  return verbs.includes(word) ? word : 'other';
}
