import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { ensureRunning } from './background.ts';
import { findProgram } from './host-programs.ts';
import type { Secrets } from './secrets.ts';
import { dataDir, portOf } from './settings.ts';
import type { Settings } from './settings.ts';

/** One PostgreSQL server of this copy; its process and its data folder go by its name. */
export interface PostgresServer {
  name: string;
  port: number;
  /** Of its process, beside ours. */
  env?: NodeJS.ProcessEnv;
}

const ownServer = (settings: Settings): PostgresServer => ({ name: 'postgres', port: portOf(settings, 'postgres') });

export function localDatabaseUrl(settings: Settings, secrets: Secrets, { port } = ownServer(settings)): string {
  return `postgres://postgres:${secrets.POSTGRES_PASSWORD}@127.0.0.1:${port}/postgres`;
}

/** Tests create databases by the hundred: synchronising the files of each took most of the server's processor time. */
const withoutSyncs = { fsync: 'off', full_page_writes: 'off' };

/** Starts this copy's own PostgreSQL server; the first time on a new data folder. */
export async function ensurePostgres(
  settings: Settings,
  secrets: Secrets,
  { name, port, env } = ownServer(settings),
): Promise<void> {
  const program = postgresProgram();
  const user = serverUser();
  const dir = reachableDataDir(settings, name, user);
  if (!existsSync(join(dir, 'PG_VERSION'))) initialise(join(dirname(program), 'initdb'), dir, secrets, user);
  const options = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    ...(settings.isThrowaway ? withoutSyncs : { fsync: 'on' }),
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
  await ensureRunning(settings, {
    name,
    command: program,
    args: [
      '-D',
      dir,
      '-p',
      String(port),
      ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    port,
    user,
    env: { ...process.env, ...env },
    ready: () => answersQuery(localDatabaseUrl(settings, secrets, { name, port })),
  });
}

/**
 * Makes the data folder of an asynchronous standby: a copy of the server at `source`, which it follows from then on.
 * What is in the folder goes.
 */
export async function copyPostgres(settings: Settings, name: string, source: string): Promise<void> {
  const user = serverUser();
  const dir = reachableDataDir(settings, name, user);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { mode: 0o700 });
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  const args = ['-d', source, '-D', dir, '-X', 'stream', '-R', '-c', 'fast'];
  const child = spawn(join(dirname(postgresProgram()), 'pg_basebackup'), args, { cwd: '/', stdio: 'pipe', ...user });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise((done) => child.once('close', done).once('error', done));
  if (code !== 0) throw new Error(`pg_basebackup failed:\n${said}`);
}

function postgresProgram(): string {
  const program = findProgram('postgres');
  if (program === undefined) throw new Error('PostgreSQL is not installed.');
  return program;
}

/** One role and one database for each service, owned by the role and closed to every other. */
export async function ensureDatabases(serverUrl: string, passwords: Record<string, string>): Promise<void> {
  const client = new Client({ connectionString: serverUrl, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    for (const [name, password] of Object.entries(passwords)) await ensureDatabase(client, name, password);
  } finally {
    await client.end();
  }
}

async function ensureDatabase(client: Client, name: string, password: string): Promise<void> {
  const id = client.escapeIdentifier(name);
  const role = await client.query('select 1 from pg_roles where rolname = $1', [name]);
  const verb = role.rowCount === 0 ? 'create' : 'alter';
  await client.query(`${verb} role ${id} login password ${client.escapeLiteral(password)}`);
  const database = await client.query('select 1 from pg_database where datname = $1', [name]);
  if (database.rowCount !== 0) return;
  await client.query(`create database ${id} owner ${id}`);
  await client.query(`revoke all on database ${id} from public`);
}

async function answersQuery(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

interface User {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root: the package's own user takes its place. */
function serverUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined) throw new Error('PostgreSQL needs a user that is not root.');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * The data folder, or where it is a link to; when the server's user cannot reach ours (a checkout under /root), ours
 * becomes a link to one under /var/tmp.
 */
function reachableDataDir(settings: Settings, name: string, user: User | undefined): string {
  const dir = dataDir(settings, name);
  mkdirSync(dirname(dir), { recursive: true });
  if (lstatSync(dir, { throwIfNoEntry: false })?.isSymbolicLink() === true) return readlinkSync(dir);
  if (user === undefined || spawnSync('test', ['-x', dirname(dir)], { cwd: '/', ...user }).status === 0) return dir;
  const digest = createHash('sha256').update(dir).digest('hex').slice(0, 12);
  const elsewhere = join('/var/tmp', `vision-postgres-${digest}`);
  if (!existsSync(dir)) {
    rmSync(elsewhere, { recursive: true, force: true });
    symlinkSync(elsewhere, dir);
  }
  return elsewhere;
}

/** The data folder appears by a rename, so that a run that was interrupted leaves no half made one. */
function initialise(initdb: string, dir: string, secrets: Secrets, user: User | undefined): void {
  const fresh = `${dir}.new`;
  const passwordFile = `${dir}.password`;
  for (const path of [fresh, dir]) rmSync(path, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, secrets.POSTGRES_PASSWORD, { mode: 0o600 });
  if (user !== undefined) for (const path of [fresh, passwordFile]) chownSync(path, user.uid, user.gid);
  const args = [
    '-D',
    fresh,
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
  ];
  const made = spawnSync(initdb, args, { cwd: '/', encoding: 'utf8', ...user });
  rmSync(passwordFile);
  if (made.status !== 0) throw new Error(`initdb failed:\n${made.stderr}`);
  renameSync(fresh, dir);
}
