import type { Knex } from 'knex';
import { Client, DatabaseError } from 'pg';
import type { ClientConfig } from 'pg';

/** A connection outside the pool, for what belongs to a session: advisory locks and the work done under them. */
export interface DbSession {
  query: <R = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<R[]>;
  /** False once the connection is gone, and with it every lock it held. */
  isOpen: () => boolean;
  close: () => Promise<void>;
}

/**
 * Opens a session with the settings of `db`. PostgreSQL frees its locks when the process or the connection dies.
 * @param onNotice called for every notice on a channel that the session listens to
 */
export async function openSession(db: Knex, onNotice?: () => void): Promise<DbSession> {
  const connection = await connect(db.client as KnexClient);
  let open = true;
  const closed = () => {
    open = false;
  };
  connection.on('error', closed);
  connection.on('end', closed);
  if (onNotice) connection.on('notification', onNotice);
  return {
    query: async <R>(sql: string, values: unknown[] = []) => {
      try {
        return (await connection.query(sql, values)).rows as R[];
      } catch (error) {
        // An error without SQLSTATE did not come from the server: the connection is in doubt, and so is the lock.
        if (!(error instanceof DatabaseError)) {
          open = false;
          void connection.end().catch(() => undefined);
        }
        throw error;
      }
    },
    isOpen: () => open,
    close: async () => {
      if (!open) return;
      open = false;
      await connection.end().catch(() => undefined);
    },
  };
}

/** The client of knex, and the address that `createDb` gives it for sessions where these have one of their own. */
interface KnexClient {
  acquireRawConnection: () => Promise<Client>;
  connectionSettings: ClientConfig;
  sessionUrl?: string;
}

async function connect(client: KnexClient): Promise<Client> {
  if (client.sessionUrl === undefined) return client.acquireRawConnection();
  const connection = new Client({ ...client.connectionSettings, connectionString: client.sessionUrl });
  await connection.connect();
  return connection;
}

/** Takes the session-wide advisory lock of this name, without waiting. */
export async function tryLock(session: DbSession, name: string): Promise<boolean> {
  const [row] = await session.query<{ locked: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1::text, 0)) as locked',
    [name],
  );
  return row?.locked === true;
}
