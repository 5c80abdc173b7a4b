import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { callUpstream } from '../upstream/call-upstream.ts';

/**
 * The client of knex, each of whose statements is a call to an upstream; and so is a wait for a connection. Statements
 * outside of a trace, such as those of pollers, are measured and have no span.
 */
export class MeasuredClient extends PostgresClient {
  override acquireConnection(): Promise<unknown> {
    // One that is free is taken at once.
    if ((this.pool?.numFree() ?? 0) > 0) return super.acquireConnection();
    const limitMs = this.config.acquireConnectionTimeout;
    return callUpstream({ ...POSTGRES, operation: 'acquire', limitMs }, () => super.acquireConnection());
  }

  override _query(connection: unknown, query: { sql?: string }): Promise<unknown> {
    return this.measured(query.sql ?? '', () => super._query(connection, query));
  }

  /** Runs a statement that goes to the server by another way than knex. */
  measured<T>(sql: string, run: () => Promise<T>): Promise<T> {
    const { statement_timeout: limit } = Object(this.config.connection) as { statement_timeout?: number };
    const call = {
      ...POSTGRES,
      operation: verbOf(sql),
      limitMs: limit === 0 ? undefined : limit,
      // Parameters are sent apart, so the text holds no values.
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql.slice(0, 2_000) },
    };
    return callUpstream(call, run);
  }
}

const POSTGRES = { upstream: 'postgres', isPartOfTrace: true } as const;

const verbs = ['select', 'insert', 'update', 'delete', 'with', 'begin', 'commit', 'rollback', 'set', 'listen', 'lock'];

/** The kind of a statement, by its first word. */
function verbOf(sql: string): string {
  const word = /^\s*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? '';
  return verbs.includes(word) ? word : 'other';
}
