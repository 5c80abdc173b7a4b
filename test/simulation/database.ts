import type { Knex } from 'knex';
import { createDb } from '@vision/shared/db/knex';
import { migrateAlone } from '@vision/shared/db/migrate';
import type { Migration } from '@vision/shared/db/migrate';
import { clientOf } from './client.ts';
import type { User } from './client.ts';
import type { Process, Servers, Steps } from './steps.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A database server that the simulation runs statements on. */
export interface Server extends Servers {
  url: string;
  /** Opens a connection where the address does not lead to one. */
  stream?: () => unknown;
  /** Each connection is a session of its own, so statements within a transaction are steps too. */
  hasSessions: boolean;
  close: () => Promise<void>;
}

/** The database of a world: migrated once, emptied before each schedule. */
export interface SimulatedDatabase {
  /** Its statements are no steps: it prepares a schedule and reads the outcome. */
  db: Knex;
  /** The pool of a process, whose statements are its steps. */
  of: (process: Process, steps: Steps) => Promise<Knex>;
  clear: () => Promise<void>;
  close: () => Promise<void>;
}

/** Connections of one process. */
const POOL = 4;
/** What was deleted takes space until the tables are truncated, which takes longer. */
const CLEARS_PER_TRUNCATE = 200;

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
  const pools = new Map<string, Promise<Pool>>();
  const open = async (poolMax: number): Promise<Pool> => {
    const pool = createPool(server, { poolMax, time });
    // During a schedule no time is spent on connections.
    const client = pool.db.client as Knex.Client;
    const connections = await Promise.all(Array.from({ length: poolMax }, () => client.acquireConnection() as unknown));
    for (const connection of connections) await client.releaseConnection(connection);
    return pool;
  };
  const admin = await open(POOL);
  await migrateAlone(admin.db, migrations);
  let clears = 0;
  const deletions = tables.map((table) => `in_${table} as (delete from ${table})`);
  return {
    db: admin.db,
    of: async (process, steps) => {
      const pool = pools.get(process.name) ?? open(POOL);
      pools.set(process.name, pool);
      const { db, user } = await pool;
      user.current = { process, steps };
      return db;
    },
    clear: async () => {
      clears += 1;
      const isThorough = clears % CLEARS_PER_TRUNCATE === 0;
      await admin.db.raw(
        isThorough ? `truncate ${tables.join(', ')}` : `with ${deletions.join(', ')} select setval('sim.ticks', 1)`,
      );
    },
    close: async () => {
      for (const { db } of [admin, ...(await Promise.all(pools.values()))]) await db.destroy();
    },
  };
}

interface Pool {
  db: Knex;
  user: { current: User | undefined };
}

function createPool(server: Server, { poolMax, time }: { poolMax: number; time: VirtualTime }): Pool {
  const user: Pool['user'] = { current: undefined };
  const db = createDb({
    url: server.url,
    applicationName: 'simulation',
    poolMax,
    client: clientOf({ user: () => user.current, now: time.now, hasSessions: server.hasSessions }),
    // Real time says nothing about a schedule.
    statementTimeoutMs: 0,
    idleInTransactionTimeoutMs: 0,
    lockTimeoutMs: 0,
    acquireTimeoutMs: 3_600_000,
  });
  if (server.stream) Object.assign((db.client as { connectionSettings: object }).connectionSettings, server);
  return { db, user };
}
