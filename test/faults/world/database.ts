import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { Client } from 'pg';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { runningPid, stopProgram } from '../../../deploy/local/background.ts';
import { copyPostgres, ensurePostgres, localDatabaseUrl } from '../../../deploy/local/postgres.ts';
import type { PostgresServer } from '../../../deploy/local/postgres.ts';
import type { Secrets } from '../../../deploy/local/secrets.ts';
import { portOf } from '../../../deploy/local/settings.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import { createProcessClock } from './clock.ts';
import type { ProcessClock } from './clock.ts';
import { portBlocks } from './ports.ts';

/** The PostgreSQL server that all services use, and the standby that may take its place. */
export interface Database {
  /** Where new connections of the services lead. */
  port: () => number;
  url: () => string;
  /** Starts the server that is in charge unless it runs. */
  ensure: () => Promise<void>;
  kill: (signal: NodeJS.Signals) => void;
  /** Makes a copy that follows the server asynchronously. */
  addStandby: () => Promise<void>;
  /**
   * Holds back what the standby would hear for `lagMs`, kills the server and puts the standby in charge: what was
   * committed meanwhile is lost.
   */
  failOver: (lagMs: number) => Promise<void>;
  /** Ends the server in order, which the standby has followed to its end, and puts the standby in charge. */
  moveToStandby: () => Promise<void>;
  /** Leads new connections to the standby, which answers reads and takes no writes. */
  showStandby: (isShown: boolean) => void;
  /**
   * Lets every commit wait for a standby that does not answer, for `ms`.
   * @returns how many commits waited in the end
   */
  stallCommits: (ms: number) => Promise<number>;
  /** By which both servers go. */
  clock: ProcessClock;
  close: () => Promise<void>;
}

export interface DatabaseOptions {
  settings: Settings;
  fakeTime: string | undefined;
  secrets: Secrets;
  random: () => number;
}

export async function createDatabase({ settings, secrets, random, fakeTime }: DatabaseOptions): Promise<Database> {
  const folder = clockFolder();
  const clock = createProcessClock(join(folder, 'clock'), fakeTime);
  const servers: [PostgresServer, PostgresServer] = [
    { name: 'postgres', port: portOf(settings, 'postgres'), env: clock.env },
    { name: 'postgres-2', port: settings.portBase + portBlocks.secondPostgres, env: clock.env },
  ];
  let [primary, standby] = servers;
  let isStandbyShown = false;
  const urlOf = (server: PostgresServer) => localDatabaseUrl(settings, secrets, server);
  const replication = await startFaultProxy(() => ({ host: '127.0.0.1', port: primary.port }), random);
  const kill = (signal: NodeJS.Signals) => {
    const pid = runningPid(settings, primary.name);
    if (pid !== undefined) process.kill(pid, signal);
  };
  const promoteAfter = async (signal: NodeJS.Signals) => {
    kill(signal);
    await until(() => runningPid(settings, primary.name) === undefined, { timeoutMs: 40_000 });
    [primary, standby] = [standby, primary];
    await ask(urlOf(primary), 'select pg_promote(true, 20)');
  };
  return {
    port: () => (isStandbyShown ? standby : primary).port,
    url: () => urlOf(primary),
    ensure: () => ensurePostgres(settings, secrets, primary),
    kill,
    addStandby: async () => {
      await stopProgram(settings, standby.name, 'SIGINT', 10_000);
      const through = new URL(urlOf(primary));
      through.port = String(replication.port);
      await copyPostgres(settings, standby.name, through.href);
      await ensurePostgres(settings, secrets, standby);
      const follows = `select 1 from pg_stat_replication where state = 'streaming'`;
      await until(async () => (await ask(urlOf(primary), follows)) > 0, { timeoutMs: 20_000, intervalMs: 200 });
    },
    failOver: async (lagMs) => {
      replication.set({ kind: 'black_hole' });
      await delay(lagMs);
      // A connection whose first bytes are swallowed would keep a server that shuts down for its minute of patience.
      replication.set({ kind: 'refuse' });
      await promoteAfter('SIGQUIT');
      replication.set({ kind: 'none' });
    },
    // A shutdown in order ends when the standby has everything.
    moveToStandby: () => promoteAfter('SIGINT'),
    showStandby: (isShown) => {
      isStandbyShown = isShown;
    },
    stallCommits: async (ms) => {
      const url = urlOf(primary);
      await configure(url, `alter system set synchronous_standby_names = 'absent'`);
      try {
        await delay(ms);
        return await ask(url, `select from pg_stat_activity where wait_event = 'SyncRep'`);
      } finally {
        await configure(url, 'alter system reset synchronous_standby_names');
      }
    },
    clock,
    close: async () => {
      await replication.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Where the server's user can read, which is not ours. */
function clockFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vision-clock-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** A change of the configuration is in no transaction, so it waits for no standby. */
async function configure(url: string, sql: string): Promise<void> {
  await ask(url, sql);
  await ask(url, 'select pg_reload_conf()');
}

async function ask(url: string, sql: string): Promise<number> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end().catch(() => undefined);
  }
}
