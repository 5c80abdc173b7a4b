import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { PGlite } from '@electric-sql/pglite';
import type { Knex } from 'knex';
import pg from 'pg';
import { testAddress } from '@vision/shared/testing/environment';
import type { Server, SimulatedDatabase } from './database.ts';
import { realDate } from './virtual-time.ts';

/** `now()` of services is the time of the schedule, in a transaction that of its beginning; the other one moves on. */
const VIRTUAL_NOW = `
  create schema sim;
  create function sim.now() returns timestamptz language sql stable
    as $$ select current_setting('sim.now')::timestamptz $$;
  create sequence sim.ticks;
  create function sim.clock_timestamp() returns timestamptz language sql volatile
    as $$ select current_setting('sim.now')::timestamptz + nextval('sim.ticks') * interval '1 microsecond' $$`;

/** PostgreSQL within this process: fast, and one session for all, so transactions take place one after the other. */
export async function startPglite(): Promise<Server> {
  const lite = await PGlite.create({ relaxedDurability: true });
  await lite.exec(VIRTUAL_NOW);
  const turns = createTurns();
  return {
    url: 'postgres://postgres@localhost/postgres',
    stream: () => new Wire(lite, turns),
    hasSessions: false,
    countBlocked: () => Promise.resolve(turns.waiting()),
    cancel: () => Promise.resolve(),
    close: () => lite.close(),
  };
}

/** The connection that the session belongs to, from the begin of its transaction to the end. */
interface Turns {
  waiting: () => number;
  take: (wire: object) => Promise<void>;
  pass: () => void;
}

function createTurns(): Turns {
  let owner: object | undefined;
  const line: { wire: object; go: () => void }[] = [];
  return {
    waiting: () => line.length,
    take: async (wire) => {
      if (owner === wire) return;
      if (owner === undefined) owner = wire;
      else await new Promise<void>((go) => line.push({ wire, go }));
    },
    pass: () => {
      const next = line.shift();
      owner = next?.wire;
      next?.go();
    },
  };
}

const TERMINATE = 'X'.charCodeAt(0);
/** The end of an answer of a session that is in no transaction: ReadyForQuery, idle. */
const IDLE = Buffer.from([...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);

/** What a connection of the driver `pg` needs of a socket. */
class Wire extends Duplex {
  readonly #lite: PGlite;
  readonly #turns: Turns;

  constructor(lite: PGlite, turns: Turns) {
    super();
    this.#lite = lite;
    this.#turns = turns;
  }

  connect(): void {
    queueMicrotask(() => this.emit('connect'));
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  override _read(): void {}

  override _write(message: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#answer(message).then(() => done(), done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done);
  }

  async #answer(message: Buffer): Promise<void> {
    if (message[0] === TERMINATE) return void this.push(null);
    await this.#turns.take(this);
    const answer = Buffer.from(await this.#lite.execProtocolRaw(message, { syncToFs: false }));
    if (answer.subarray(-IDLE.length).equals(IDLE)) this.#turns.pass();
    this.push(answer);
  }
}

/** A database of its own at the PostgreSQL of the tests, which has a session for each connection. */
export async function createPostgresDatabase(): Promise<Server> {
  const url = new URL(testAddress('TEST_DATABASE_URL'));
  // Tests remove databases that were made more than an hour ago.
  const name = `vision_test_${realDate().toString(36)}_${randomBytes(4).toString('hex')}`;
  const server = new pg.Client({ connectionString: url.href });
  await server.connect();
  await server.query(`create database ${name}`);
  // A deadlock is found by waiting.
  await server.query(`alter database ${name} set deadlock_timeout to '20ms'`);
  url.pathname = `/${name}`;
  const database = new pg.Client({ connectionString: url.href });
  await database.connect();
  await database.query(VIRTUAL_NOW);
  await database.end();
  return {
    url: url.href,
    hasSessions: true,
    countBlocked: async () => {
      const { rows } = await server.query<{ blocked: number }>(
        `select count(*)::int as blocked from pg_stat_activity
          where datname = $1 and state = 'active' and cardinality(pg_blocking_pids(pid)) > 0`,
        [name],
      );
      return rows[0]?.blocked ?? 0;
    },
    cancel: async (connection) => {
      await server.query('select pg_cancel_backend($1)', [(connection as { processID: number }).processID]);
    },
    close: async () => {
      await server.query(`drop database if exists ${name} with (force)`);
      await server.end();
    },
  };
}

/** For a world that has all in memory. */
export const noServer: Server = {
  url: '',
  hasSessions: false,
  countBlocked: () => Promise.resolve(0),
  cancel: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
const nothing = Object.freeze({}) as unknown as Knex;
export const noDatabase: SimulatedDatabase = {
  db: nothing,
  of: () => Promise.resolve(nothing),
  clear: () => Promise.resolve(),
  release: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
