import type { RawConnection } from 'knex/lib/dialects/postgres/index.js';
import { MeasuredClient } from '@vision/shared/db/measured-client';
import type { Session, SpareConnections } from './spare-connections.ts';
import type { Process, Steps } from './steps.ts';

/** The process that a pool belongs to, in one schedule. */
export interface User {
  process: Process;
  steps: Steps;
}

interface ClientOptions {
  /** Undefined for the pool whose statements are no steps; they take place beside those of `current`. */
  user: User | undefined;
  current: () => Steps | undefined;
  now: () => Date;
  hasSessions: boolean;
  spare: SpareConnections;
  /** Cancels the statement of a connection. */
  cancel: (connection: RawConnection) => Promise<void>;
}

interface Statement<T> {
  sql: string;
  run: () => Promise<T>;
}

/** Of a session: `now()` without a schema is that of the simulation, which `openDatabase` has made. */
const SESSION = `
  set client_min_messages to error;
  set plan_cache_mode to force_generic_plan;
  set search_path to sim, pg_catalog, public`;

const names = new Map<string, string>();
/** Statements are prepared once: most of the time of a short one is its plan. */
function nameOf(sql: string): string {
  const name = names.get(sql) ?? `s${names.size}`;
  names.set(sql, name);
  return name;
}
/** Of the one session that all connections share. */
const parsedStatements = {};

/** A client of knex as services have it, whose statements take place when the scheduler picks them. */
export function clientOf(options: ClientOptions): typeof MeasuredClient {
  const { user, current, now, hasSessions, spare } = options;
  const sessions = new WeakMap<object, Session>();
  const atServer = <T>(work: () => Promise<T>, withdraw?: () => Promise<void>) =>
    user ? user.steps.atServer(work, withdraw) : (current()?.beside(work) ?? work());

  const tellTime = async (session: Session) => {
    const ms = now().getTime();
    if (session.isInTransaction || session.nowMs === ms) return;
    await session.connection.query(`select set_config('sim.now', '${now().toISOString()}', false)`);
    session.nowMs = ms;
  };
  const execute = <T>(session: Session, { sql, run }: Statement<T>, withdraw?: () => Promise<void>): Promise<T> =>
    atServer(async () => {
      await tellTime(session);
      if (isBegin(sql)) session.isInTransaction = true;
      if (isEnd(sql)) session.isInTransaction = false;
      return run();
    }, withdraw);
  /** A write that is a transaction by itself: others can meet its locks before it is committed. */
  const executeAndCommit = async <T>(session: Session, { sql, run }: Statement<T>): Promise<T> => {
    await execute(session, plain(session, 'begin'));
    const state = { isWithdrawn: false };
    const withdraw = () => {
      state.isWithdrawn = true;
      return options.cancel(session.connection);
    };
    try {
      const result = await execute(session, { sql, run }, withdraw);
      // Its client may die meanwhile: the server goes on.
      await user?.process.commitStep(`commit ${briefly(sql)}`).catch(() => undefined);
      await execute(session, plain(session, 'commit'));
      return result;
    } catch (error) {
      await execute(session, plain(session, 'rollback'));
      if (!state.isWithdrawn) throw error;
    }
    await user?.steps.turnToSendAgain();
    return executeAndCommit(session, { sql, run });
  };
  const inTurn = async <T>(session: Session, statement: Statement<T>): Promise<T> => {
    const { sql } = statement;
    if (!user || isRollback(sql)) return execute(session, statement);
    const isStep = hasSessions || !session.isInTransaction || isEnd(sql);
    try {
      if (isStep) await user.process.step(briefly(sql));
    } catch (error) {
      // The server rolls back when a client has died.
      if (session.isInTransaction) await execute(session, plain(session, 'rollback'));
      throw error;
    }
    const isCommitApart = hasSessions && !session.isInTransaction && isWrite(sql);
    return isCommitApart ? executeAndCommit(session, statement) : execute(session, statement);
  };

  const openConnection = async (open: () => Promise<RawConnection>) => {
    const connection = await open();
    await connection.query(SESSION);
    if (!hasSessions) Object.assign((connection as unknown as { connection: object }).connection, { parsedStatements });
    return connection;
  };

  return class SimulatedClient extends MeasuredClient {
    override _acquireOnlyConnection(): Promise<RawConnection> {
      const connection = spare.take();
      return connection ? Promise.resolve(connection) : openConnection(() => super._acquireOnlyConnection());
    }

    override acquireRawConnection(): Promise<RawConnection> {
      return atServer(async () => {
        const connection = await super.acquireRawConnection();
        const session = { connection, isInTransaction: false, nowMs: NaN, lastStatement: Promise.resolve() };
        sessions.set(connection, session);
        spare.use(session);
        return connection;
      });
    }

    /** To its server it ends: what it had begun is rolled back. It is spare when the schedule has ended. */
    override async destroyRawConnection(connection: RawConnection): Promise<void> {
      const session = sessions.get(connection);
      // A statement that its client no longer waits for goes on.
      await session?.lastStatement.catch(() => undefined);
      if (session?.isInTransaction) await execute(session, plain(session, 'rollback'));
    }

    override _query(connection: RawConnection, query: { sql?: string }): Promise<unknown> {
      // A keyword leads past the search path.
      const text = query.sql?.replace(/\bcurrent_timestamp\b/gi, 'now()') ?? '';
      return super._query(connection, Object.assign(query, { sql: text, options: { name: nameOf(text) } }));
    }

    override measured<T>(connection: object, sql: string, run: () => Promise<T>): Promise<T> {
      const session = sessions.get(connection);
      if (!session) return super.measured(connection, sql, run);
      const statement = inTurn(session, { sql, run: () => super.measured(connection, sql, run) });
      session.lastStatement = statement;
      return statement;
    }
  };
}

const plain = ({ connection }: Session, sql: string) => ({ sql, run: () => connection.query(sql) });

const isBegin = (sql: string) => /^\s*begin\b/i.test(sql);
const isRollback = (sql: string) => /^\s*rollback\b/i.test(sql);
const isEnd = (sql: string) => isRollback(sql) || /^\s*commit\b/i.test(sql);
const isWrite = (sql: string) => /\b(insert|update|delete)\b/i.test(sql);
const briefly = (sql: string) => sql.replace(/\s+/g, ' ').trim().slice(0, 60);
