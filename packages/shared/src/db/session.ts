import type { Knex } from 'knex';
import { Client, DatabaseError } from 'pg';
import type { ClientConfig } from 'pg';
import { refuseReadOnly } from './measured-client.ts';

/** A connection outside the pool, for what belongs to a session: advisory locks and the work done under them. */
export interface DbSession {
  query: <R = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<R[]>;
  /** False once the connection is gone, and with it every lock it held. */
  isOpen: () => boolean;
  close: () => Promise<void>;
}

/**
 * Opens a session with the settings of `db`. PostgreSQL frees its locks when the process or the connection dies, and
 * within seconds when the host of the process vanishes without a word; the session ends as fast when the server does.
 * @param onNotice called for every notice on a channel that the session listens to, and when the session is lost
 */
export async function openSession(db: Knex, onNotice?: () => void): Promise<DbSession> {
  const connection = await connect(db.client as KnexClient);
  let open = true;
  let underWay = 0;
  const lose = () => {
    clearInterval(heartbeat);
    if (!open) return;
    open = false;
    onNotice?.();
  };
  const query = async <R>(sql: string, values: unknown[] = []) => {
    underWay += 1;
    try {
      const { rows } = await connection.query(sql, values);
      return rows as R[];
    } catch (error) {
      // An error without SQLSTATE did not come from the server: the connection is in doubt, and so is the lock.
      if (!(error instanceof DatabaseError)) {
        lose();
        void connection.end().catch(() => undefined);
      }
      throw error;
    } finally {
      underWay -= 1;
    }
  };
  const heartbeat = setInterval(() => {
    // A statement under way has a limit of its own.
    if (underWay === 0) void query('select 1').catch(() => undefined);
  }, HEARTBEAT_MS).unref();
  connection.on('error', lose);
  connection.on('end', lose);
  if (onNotice) connection.on('notification', onNotice);
  await query(VANISHED_AFTER);
  return {
    query,
    isOpen: () => open,
    close: async () => {
      clearInterval(heartbeat);
      if (!open) return;
      open = false;
      await connection.end().catch(() => undefined);
    },
  };
}

/** How often the server is asked whether it is there. */
const HEARTBEAT_MS = 10_000;

/** Otherwise a server keeps the session of a host that vanished for two hours, or a quarter of one while it sends. */
const VANISHED_AFTER = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;
  set tcp_user_timeout = '10s'`;

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
  await refuseReadOnly(connection);
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
