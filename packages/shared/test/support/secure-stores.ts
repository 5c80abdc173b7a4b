import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chownSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram } from '../../../../deploy/local/host-programs.ts';
import { makeCertificates } from '../../src/testing/made-certificates.ts';
import type { MadeCertificates } from '../../src/testing/made-certificates.ts';
import { freePort } from '../../src/testing/ports.ts';

export interface SecureStore {
  port: number;
  certificates: MadeCertificates;
  /** Of another authority. */
  strangers: MadeCertificates;
  stop: () => Promise<void>;
}

/** A password that breaks every address into which it is written as it is. */
export const ODD_PASSWORD = 'p@ss:w/rd?#%2F&+ =';

/** A PostgreSQL server that refuses connections without TLS. */
export async function startSecurePostgres(): Promise<SecureStore> {
  const dir = mkdtempSync(join(tmpdir(), 'vision-secure-postgres-'));
  const { certificates, strangers } = makeBoth(dir);
  const program = findProgram('postgres') ?? 'postgres';
  const data = join(dir, 'data');
  const user = serverUser();
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, ODD_PASSWORD);
  // The server wants its key for itself.
  const key = join(dir, 'server.key');
  copyFileSync(certificates.server.key, key);
  execFileSync('chmod', ['600', key]);
  execFileSync('chmod', ['755', dir]);
  if (user) for (const path of [dir, key, passwordFile]) chownSync(path, user.uid, user.gid);
  const made = [
    '-D',
    data,
    '-U',
    'vision',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--locale=C',
    '-E',
    'UTF8',
  ];
  execFileSync(join(dirname(program), 'initdb'), [...made, '--no-sync'], { cwd: '/', stdio: 'pipe', ...user });
  writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n');
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1,127.0.0.2',
    unix_socket_directories: '',
    ssl: 'on',
    ssl_cert_file: certificates.server.cert,
    ssl_key_file: key,
    fsync: 'off',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(program, ['-D', data, '-p', String(port), ...options], { cwd: '/', stdio: 'ignore', ...user });
  return { port, certificates, strangers, stop: () => end(child, dir) };
}

/** A Redis that speaks TLS only and has one user beside the default one, which is off. */
export async function startSecureRedis(): Promise<SecureStore> {
  const dir = mkdtempSync(join(tmpdir(), 'vision-secure-redis-'));
  const { certificates, strangers } = makeBoth(dir);
  const port = await freePort();
  const file = join(dir, 'redis.conf');
  const lines = [
    'port 0',
    `tls-port ${port}`,
    'bind 127.0.0.1 127.0.0.2',
    `tls-cert-file ${certificates.server.cert}`,
    `tls-key-file ${certificates.server.key}`,
    `tls-ca-cert-file ${certificates.ca}`,
    'tls-auth-clients no',
    `dir ${dir}`,
    'save ""',
    'user default off',
    `user vision on ">${ODD_PASSWORD}" ~* &* +@all`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn(findProgram('redis') ?? 'redis-server', [file], { stdio: 'ignore' });
  return { port, certificates, strangers, stop: () => end(child, dir) };
}

function makeBoth(dir: string): Pick<SecureStore, 'certificates' | 'strangers'> {
  return {
    certificates: makeCertificates(join(dir, 'certificates')),
    strangers: makeCertificates(join(dir, 'strangers')),
  };
}

async function end(child: ChildProcess, dir: string): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.signalCode === null) {
    // PostgreSQL: at once, without a checkpoint.
    child.kill('SIGQUIT');
    await ended;
  }
  rmSync(dir, { recursive: true, force: true });
}

/** PostgreSQL refuses to run as root: the package's own user takes its place. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((user) => user.startsWith('postgres:'));
  const [, , uid, gid] = (line ?? '').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}
