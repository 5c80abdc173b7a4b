import type { Knex } from 'knex';
import { createDb } from '@vision/shared/db/knex';
import { migrateAlone } from '@vision/shared/db/migrate';
import type { Migration } from '@vision/shared/db/migrate';
import { clientOf } from './client.ts';
import type { User } from './client.ts';
import type { Process, Servers, Steps } from './steps.ts';
import { createSpareConnections } from './spare-connections.ts';
import type { SpareConnections } from './spare-connections.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A database server that the simulation runs statements on. */
export interface Server extends Servers {
  url: string;
  /** Opens a connection where the address does not lead to one. */
  stream?: () => unknown;
  /** Each connection is a session of its own, so statements within a transaction are steps too. */
  hasSessions: boolean;
  /** Cancels the statement of a connection that waits for a lock. */
  cancel: (connection: object) => Promise<void>;
  close: () => Promise<void>;
}

/** The database of a world: migrated once, emptied before each schedule. */
export interface SimulatedDatabase {
  /** Its statements are no steps: it prepares a schedule, acts for what is not simulated and reads the outcome. */
  db: Knex;
  /**
   * The pool of a process, whose statements are its steps. Each schedule gets a new one: a pool remembers connections
   * that it gave up, and when.
   */
  of: (process: Process, steps: Steps) => Promise<Knex>;
  /** Empties the tables. Rows that were only deleted would decide where the next ones lie, and in which order. */
  clear: () => Promise<void>;
  /** Gives up the pools of a schedule that has ended. */
  release: () => Promise<void>;
  close: () => Promise<void>;
}

/** Connections of one process. */
const POOL = 4;

export interface Schema {
  migrations: readonly Migration[];
  /** Those that schedules write to. */
  tables: readonly string[];
}

export async function openDatabase(
  server: Server,
  { migrations, tables }: Schema,
  time: VirtualTime,
): Promise<SimulatedDatabase> {
  let current: Steps | undefined;
  const admin = createPool(server, { time, spare: createSpareConnections(), current: () => current });
  await fill(admin);
  await migrateAlone(admin, migrations);
  const spare = createSpareConnections();
  const pools: Knex[] = [];
  const release = async () => {
    current = undefined;
    // Its promise waits for work that the schedule has left unfinished.
    for (const pool of pools.splice(0)) void pool.destroy();
    await spare.takeBack();
  };
  return {
    db: admin,
    of: async (process, steps) => {
      current = steps;
      const pool = createPool(server, { time, spare, user: { process, steps }, current: () => current });
      pools.push(pool);
      await fill(pool);
      return pool;
    },
    clear: async () => {
      await admin.raw(`truncate ${tables.join(', ')}`);
      await admin.raw(`select setval('sim.ticks', 1)`);
    },
    release,
    close: async () => {
      await release();
      await spare.close();
      await admin.destroy();
    },
  };
}

/** Opens all connections: during a schedule no time is spent on them. */
async function fill(pool: Knex): Promise<void> {
  const client = pool.client as Knex.Client;
  const connections = await Promise.all(Array.from({ length: POOL }, () => client.acquireConnection() as unknown));
  for (const connection of connections) await client.releaseConnection(connection);
}

interface PoolOptions {
  time: VirtualTime;
  spare: SpareConnections;
  user?: User;
  current: () => Steps | undefined;
}

function createPool(server: Server, { time, spare, user, current }: PoolOptions): Knex {
  const db = createDb({
    url: server.url,
    applicationName: 'simulation',
    poolMax: POOL,
    client: clientOf({ user, current, now: time.now, hasSessions: server.hasSessions, spare, cancel: server.cancel }),
    // Real time says nothing about a schedule.
    statementTimeoutMs: 0,
    acquireTimeoutMs: 3_600_000,
  });
  const { connectionSettings } = db.client as { connectionSettings: object };
  Object.assign(
    connectionSettings,
    { idle_in_transaction_session_timeout: 0, lock_timeout: 0 },
    server.stream && server,
  );
  // It would be asked for in every schedule.
  Object.assign(db.client as object, { version: '15' });
  return db;
}
