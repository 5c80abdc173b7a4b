import type { RawConnection } from 'knex/lib/dialects/postgres/index.js';

/** A connection that a pool of a schedule has opened, as the server sees it. */
export interface Session {
  connection: RawConnection;
  isInTransaction: boolean;
  /** The instant that its `now()` returns. */
  nowMs: number;
  /** Settles when its last statement has ended. */
  lastStatement: Promise<unknown>;
}

/** Open connections to the server, which the pools of one schedule after the other use: opening them takes long. */
export interface SpareConnections {
  take: () => RawConnection | undefined;
  /** A pool uses it from now on, until `takeBack`. */
  use: (session: Session) => void;
  /** Ends what a schedule has left in its connections. */
  takeBack: () => Promise<void>;
  close: () => Promise<void>;
}

export function createSpareConnections(): SpareConnections {
  const spare: RawConnection[] = [];
  const used: Session[] = [];
  const rest = async (session: Session) => {
    await session.lastStatement.catch(() => undefined);
    if (session.isInTransaction) {
      session.isInTransaction = false;
      await session.connection.query('rollback');
    }
    // Of knex, which disposes of a connection whose statement took too long; its answer has arrived.
    Object.assign(session.connection, { __knex__disposed: undefined });
    spare.push(session.connection);
  };
  return {
    take: () => spare.pop(),
    use: (session) => void used.push(session),
    takeBack: async () => {
      await Promise.all(used.splice(0).map(rest));
    },
    close: async () => {
      await Promise.all(spare.splice(0).map((connection) => connection.end()));
    },
  };
}
