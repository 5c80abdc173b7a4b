import type { MeasuredClient } from '@vision/shared/db/measured-client';
import type { Knex } from 'knex';

export interface PreparedStatement {
  /** One name for each text, in the entire service. */
  name: string;
  text: string;
  values: unknown[];
}

interface Connection {
  query: (statement: Omit<PreparedStatement, 'name'> & { name?: string }) => Promise<{ rows: unknown[] }>;
}

interface Client extends Pick<MeasuredClient, 'measured'> {
  acquireConnection: () => Promise<Connection>;
  releaseConnection: (connection: Connection) => Promise<void>;
  /** Set when a pooler assigns connections for one transaction each: the next one has no prepared statements. */
  sessionUrl?: string;
}

/**
 * Runs a statement that each connection prepares once. Without the query builder a statement as small as a reserve
 * takes half the work of this process, and the server need not parse it. Inside a transaction it runs in it.
 */
export async function queryPrepared<R>(db: Knex, statement: PreparedStatement): Promise<R[]> {
  const client = db.client as Client;
  const { text, values } = statement;
  const sent = client.sessionUrl === undefined ? statement : { text, values };
  const connection = await client.acquireConnection();
  try {
    return (await client.measured(connection, statement.text, () => connection.query(sent))).rows as R[];
  } finally {
    await client.releaseConnection(connection);
  }
}
