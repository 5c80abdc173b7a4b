import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ensureRunning } from '../../local/background.ts';
import { findProgram } from '../../local/host-programs.ts';
import { ensureKafka } from '../../local/kafka.ts';
import { ensurePostgres } from '../../local/postgres.ts';
import { ensureS3 } from '../../local/s3.ts';
import { completeSecrets } from '../../local/secrets.ts';
import { dataDir, portOf, root } from '../../local/settings.ts';
import type { PortName, Settings } from '../../local/settings.ts';
import { answersLine } from '../../local/wait.ts';
import type { ComposeFile } from '../compose-file.ts';

/** Containers for which programs of the machine stand, with the port that the compose file's addresses name. */
export const standIns: Record<string, { program: PortName; port: number }> = {
  postgres: { program: 'postgres', port: 5432 },
  redis: { program: 'redis', port: 6379 },
  kafka: { program: 'kafka', port: 9092 },
  s3: { program: 's3', port: 80 },
};

/** Beside the others of the copy: a listener that sends clients to the name that the compose file gives the broker. */
const KAFKA_INSIDE = 92;

export function kafkaPort(settings: Settings): number {
  return settings.portBase + KAFKA_INSIDE;
}

/** Settings of the local copy, with a broker that advertises itself as the one of the compose file does. */
export function standInSettings(settings: Settings, compose: ComposeFile): Settings {
  const advertised = environmentOf(compose, 'kafka')['KAFKA_ADVERTISED_LISTENERS'] ?? '';
  const own = `PLAINTEXT://127.0.0.1:${portOf(settings, 'kafka')}`;
  const properties = { 'advertised.listeners': `${own},${advertised.replace('PLAINTEXT:', 'INSIDE:')}` };
  const listener = { name: 'INSIDE', port: kafkaPort(settings), advertisedPort: 9092 };
  return { ...settings, kafka: { listeners: [listener], properties } };
}

/** Starts them with the secrets of the compose file, and makes the databases with its script. */
export async function startStandIns(settings: Settings, compose: ComposeFile): Promise<void> {
  const secrets = completeSecrets({ ...environmentOf(compose, 'postgres'), ...environmentOf(compose, 'bucket') });
  await ensurePostgres(settings, secrets);
  await startRedis(settings, environmentOf(compose, 'redis')['REDIS_PASSWORD'] ?? '');
  await ensureS3(settings, secrets);
  await ensureKafka(settings);
  createDatabases(settings, compose);
}

async function startRedis(settings: Settings, password: string): Promise<void> {
  const port = portOf(settings, 'redis');
  const dir = dataDir(settings, 'redis');
  mkdirSync(dir, { recursive: true });
  await ensureRunning(settings, {
    name: 'redis',
    command: findProgram('redis') ?? '',
    args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', '', '--requirepass', password],
    port,
    ready: () => answersLine(port, `AUTH ${password}\r\n`, '+OK'),
  });
}

function createDatabases(settings: Settings, compose: ComposeFile): void {
  const environment = environmentOf(compose, 'postgres');
  const programs = dirname(findProgram('postgres') ?? '');
  const { status, stderr } = spawnSync('sh', [join(root, 'deploy/compose/create-databases.sh')], {
    env: {
      ...environment,
      PATH: [programs, process.env['PATH']].join(delimiter),
      PGHOST: '127.0.0.1',
      PGPORT: String(portOf(settings, 'postgres')),
      PGPASSWORD: environment['POSTGRES_PASSWORD'],
    },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`create-databases.sh failed:\n${stderr}`);
}

function environmentOf(compose: ComposeFile, name: string): Record<string, string> {
  return compose.services[name]?.environment ?? {};
}
