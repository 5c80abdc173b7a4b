import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureRunning, runningPid, startLog } from './background.ts';
import { addressesOf, allOrFirstError } from './infrastructure.ts';
import type { Infrastructure } from './infrastructure.ts';
import { portOf, root, say, urlOf } from './settings.ts';
import type { PortName, Settings } from './settings.ts';
import { answersOk } from './wait.ts';

export const serviceNames = ['quota', 'inference', 'tasks', 'images', 'results', 'gateway'] as const;

export type ServiceName = (typeof serviceNames)[number];

/** The database of a service, which is also the name of its role. */
export const databaseOf = (service: ServiceName) => `vision_${service}`;

export interface Launch {
  settings: Settings;
  infrastructure: Infrastructure;
  /** Variables of the caller; what is set there and not decided here reaches the services. */
  env: NodeJS.ProcessEnv;
  /** For one of several processes of a service. */
  replica?: Replica;
}

export interface Replica {
  /** Of the process: its log and its pid go by it. */
  name: string;
  /** Where its ports begin, apart from those of the others. */
  portBase: number;
  /** The addresses of the other services, `TASKS_URL` and the like. */
  neighbours: Record<string, string>;
}

const nodeFlags = ['--conditions=@vision/source'];
/** V8 keeps the pages of its young generation once it has used them: up to 128 MB at its own setting. */
const memoryFlags = ['--max-semi-space-size=8'];

/** Migrates and starts the services that do not run yet; returns those that exist when all of them are ready. */
export async function ensureServices(launch: Launch, names: readonly ServiceName[]): Promise<ServiceName[]> {
  const present = names.filter((name) => isPresent(name));
  const fresh = present.filter((name) => runningPid(launch.settings, name) === undefined);
  await allOrFirstError(fresh.map((name) => migrate(launch, name)));
  await allOrFirstError(present.map((name) => ensureService(launch, name)));
  return present;
}

/** Inference may be named by the environment. A service that does not exist yet is left out with a message. */
export function wantedServices(env: NodeJS.ProcessEnv, settings: Settings): ServiceName[] {
  const ownUrl = urlOf(settings, 'inference');
  const elsewhere = env['INFERENCE_URL'] && env['INFERENCE_URL'] !== ownUrl;
  return serviceNames.filter((name) => name !== 'inference' || !elsewhere);
}

function isPresent(name: ServiceName): boolean {
  const present = existsSync(join(root, 'services', name, 'src/main.ts'));
  if (!present) say(name, 'skipped: it has no src/main.ts');
  return present;
}

/** Brings the database of a service up to date. */
export async function migrate(launch: Launch, name: ServiceName): Promise<void> {
  const log = startLog(launch.settings, `${name}-migrate`);
  const child = spawn(process.execPath, [...nodeFlags, 'src/main.ts', 'migrate'], {
    cwd: join(root, 'services', name),
    env: environmentOf(launch, name),
    stdio: ['ignore', log.output, log.output],
  });
  const code = await new Promise((done) => child.once('close', done).once('error', done));
  log.close();
  if (code !== 0) throw new Error(`The migration of ${name} failed. The last lines of ${log.file}:\n${log.tail()}`);
}

/** Starts one process of a service unless it runs, and returns when it is ready. */
export async function ensureService(launch: Launch, name: ServiceName): Promise<void> {
  const ports = portsOf(launch);
  const health = urlOf(ports, `${name}Health`);
  await ensureRunning(launch.settings, {
    name: launch.replica?.name ?? name,
    command: process.execPath,
    args: [...nodeFlags, ...memoryFlags, '--import', './src/telemetry.ts', 'src/main.ts'],
    port: portOf(ports, name),
    cwd: join(root, 'services', name),
    env: environmentOf(launch, name),
    fingerprint: fingerprintOf(launch, name),
    ready: () => answersOk(`${health}/health/ready`),
  });
}

/**
 * Changes with the variables that are decided here and the caller's values for them; the rest of the shell
 * does not count.
 */
function fingerprintOf(launch: Launch, name: ServiceName): string {
  const environment = environmentOf(launch, name);
  const own = Object.keys(environmentOf({ ...launch, env: {} }, name)).sort();
  const text = JSON.stringify(own.map((key) => [key, environment[key]]));
  return createHash('sha256').update(text).digest('hex');
}

const portsOf = ({ settings, replica }: Launch): Settings =>
  replica ? { ...settings, portBase: replica.portBase } : settings;

function environmentOf(launch: Launch, name: ServiceName): NodeJS.ProcessEnv {
  const { settings, infrastructure, env, replica } = launch;
  const { secrets } = infrastructure;
  const ports = portsOf(launch);
  const zipkin = {
    OTEL_TRACES_EXPORTER: 'zipkin',
    OTEL_EXPORTER_ZIPKIN_ENDPOINT: `${urlOf(settings, 'traces')}/api/v2/spans`,
  };
  return {
    SCENES_FILE: join(root, 'config/scenes.json'),
    // Few malloc arenas: freed buffers of one thread are used by the others instead of staying behind in each.
    MALLOC_ARENA_MAX: '2',
    // Test and demo streams come from this address of the machine; everything else inside is refused.
    STREAM_ALLOWED_CIDRS: '127.0.0.1/32,::1/128',
    // Tests and benches look at many streams for one caller, and wait for the answer to each one that is not there.
    PROBES_AT_ONCE: '1000',
    PROBES_PER_MINUTE: '6000',
    PROBE_TOTAL_MS: '5000',
    INFERENCE_URL: urlOf(settings, 'inference'),
    ...(settings.traces ? zipkin : {}),
    ...env,
    ...addressesOf(infrastructure),
    HOST: '127.0.0.1',
    PORT: String(portOf(ports, name)),
    HEALTH_PORT: String(portOf(ports, `${name}Health`)),
    DATABASE_URL: databaseUrl(infrastructure, name),
    ...(replica?.neighbours ?? urlsOf(settings, ['tasks', 'images', 'results', 'quota'])),
    INTERNAL_TOKEN_KEY: secrets.INTERNAL_TOKEN_KEY,
    ...(name === 'gateway' ? gatewayVariables(ports, infrastructure) : {}),
    ...(name === 'tasks' || name === 'inference' ? { STREAM_URL_KEY: secrets.STREAM_URL_KEY } : {}),
  };
}

function gatewayVariables(settings: Settings, { secrets }: Infrastructure): NodeJS.ProcessEnv {
  return {
    ADMIN_PORT: String(portOf(settings, 'admin')),
    ADMIN_TOKEN: secrets.ADMIN_TOKEN,
    API_KEY_PEPPERS: secrets.API_KEY_PEPPERS,
  };
}

function urlsOf(settings: Settings, names: (ServiceName & PortName)[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_URL`, urlOf(settings, name)]));
}

function databaseUrl(infrastructure: Infrastructure, name: ServiceName): string {
  const url = new URL(infrastructure.databaseUrl);
  url.username = databaseOf(name);
  url.password = infrastructure.secrets.SERVICE_DATABASE_PASSWORD;
  url.pathname = `/${databaseOf(name)}`;
  return url.toString();
}
