import { join } from 'node:path';
import { callers } from '@vision/contracts/allowed-calls';
import { publicKeyOf } from '@vision/shared/service-keys';
import { addressesOf } from './infrastructure.ts';
import type { Infrastructure } from './infrastructure.ts';
import type { Secrets } from './secrets.ts';
import { portOf, root, urlOf } from './settings.ts';
import type { PortName, Settings } from './settings.ts';

export const serviceNames = ['quota', 'notify', 'inference', 'tasks', 'images', 'results', 'gateway'] as const;

export type ServiceName = (typeof serviceNames)[number];

/** The database of a service, which is also the name of its role. */
const databaseOf = (service: ServiceName) => `vision_${service}`;

export interface Launch {
  settings: Settings;
  infrastructure: Infrastructure;
  /** Variables of the caller; what is set there and not decided here reaches the services. */
  env: NodeJS.ProcessEnv;
  /** For one of several processes of a service. */
  replica?: Replica;
  /** The checkout that the service runs from, where it is not this one. */
  tree?: string;
  /** Whether the environment also gives constants of the service, and traps at its steps. */
  hastened?: boolean;
}

interface Replica {
  /** Of the process: its log and its pid go by it. */
  name: string;
  /** Where its ports begin, apart from those of the others. */
  portBase: number;
  /** The addresses of the other services, `TASKS_URL` and the like. */
  neighbours: Record<string, string>;
  /** In place of the secrets of this copy, and of addresses that hold one: while they are rotated. */
  secrets?: NodeJS.ProcessEnv;
}

/** The settings by which the ports of this process are counted. */
export const portsOf = ({ settings, replica }: Launch): Settings =>
  replica ? { ...settings, portBase: replica.portBase } : settings;

/** Who gets what is a secret or leads to one. Other variables of the caller that look like secrets reach no service. */
export const holders: Record<string, readonly ServiceName[]> = {
  DATABASE_URL: serviceNames,
  SERVICE_KEY: callers,
  SERVICE_PUBLIC_KEYS: serviceNames,
  ADMIN_TOKEN: ['gateway'],
  API_KEY_PEPPERS: ['gateway'],
  LINK_KEYS: ['gateway'],
  WEBHOOK_KEYS: ['notify'],
  REDIS_URL: ['gateway'],
  STREAM_URL_KEY: ['tasks', 'inference'],
  CURSOR_KEYS: ['tasks', 'results', 'notify'],
  S3_ACCESS_KEY: ['tasks', 'images', 'results', 'inference'],
  S3_SECRET_KEY: ['tasks', 'images', 'results', 'inference'],
  KAFKA_PASSWORD: ['tasks', 'images', 'results', 'quota', 'notify', 'inference'],
  KAFKA_OAUTH_CLIENT_SECRET: ['tasks', 'images', 'results', 'quota', 'notify', 'inference'],
  // Their files are named by settings of their own.
  KAFKA_KEY: ['tasks', 'images', 'results', 'quota', 'notify', 'inference'],
  AWS_WEB_IDENTITY_TOKEN: ['tasks', 'images', 'results', 'inference'],
  AWS_CONTAINER_AUTHORIZATION_TOKEN: ['tasks', 'images', 'results', 'inference'],
  DATABASE_PASSWORD: serviceNames,
  REDIS_PASSWORD: ['gateway'],
  REDIS_SENTINEL_PASSWORD: ['gateway'],
  INFERENCE_TOKEN: ['tasks', 'images', 'inference'],
  // The switch that does without one.
  DEVELOPMENT_WITHOUT_TOKEN: ['inference'],
};

const LOOKS_SECRET = /(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PEPPERS|KEYS?)$/i;

/** The passwords of the databases of all services, by the name of database and role. */
export function databasePasswords(secrets: Secrets): Record<string, string> {
  return Object.fromEntries(serviceNames.map((name) => [databaseOf(name), passwordOf(secrets, name)]));
}

/** All variables of a service; each service has a set of its own. */
export function environmentOf(launch: Launch, name: ServiceName): NodeJS.ProcessEnv {
  const { settings, infrastructure, env, replica } = launch;
  const ports = portsOf(launch);
  const observed = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${urlOf(settings, 'otlp')}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
  };
  const variables: NodeJS.ProcessEnv = {
    SCENES_FILE: join(launch.tree ?? root, 'config/scenes.json'),
    // Few malloc arenas: freed buffers of one thread are used by the others instead of staying behind in each.
    MALLOC_ARENA_MAX: '2',
    // Test and demo streams come from this address of the machine; everything else inside is refused.
    STREAM_ALLOWED_CIDRS: '127.0.0.1/32,::1/128',
    // So do receivers of webhooks, which need no certificate here.
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.1/32,::1/128',
    WEBHOOK_ALLOW_HTTP: 'true',
    MQTT_ALLOW_PLAIN: 'true',
    // Tests and benches look at many streams for one caller, and wait for the answer to each one that is not there.
    PROBES_AT_ONCE: '1000',
    PROBES_PER_MINUTE: '6000',
    STREAM_PROBES_PER_MINUTE: '6000',
    PROBE_TOTAL_MS: '5000',
    // The system of one's own shows what there is; elsewhere each subject turns it on.
    SNAPSHOTS_DEFAULT: 'tracks',
    CONSOLE: 'true',
    // It listens on the loopback address, and there is one gateway.
    CONSOLE_ONE_TIME: 'true',
    INFERENCE_URL: urlOf(settings, 'inference'),
    ...(settings.observe ? observed : {}),
    ...env,
    ...addressesOf(infrastructure),
    HOST: '127.0.0.1',
    PORT: String(portOf(ports, name)),
    HEALTH_PORT: String(portOf(ports, `${name}Health`)),
    ...(replica?.neighbours ?? urlsOf(settings, ['tasks', 'images', 'results', 'quota', 'notify'])),
    ...(name === 'gateway' ? { ADMIN_PORT: String(portOf(ports, 'admin')) } : {}),
    ...secretsOf(infrastructure, name),
    ...replica?.secrets,
  };
  return Object.fromEntries(Object.entries(variables).filter(([variable]) => mayHold(name, variable)));
}

function mayHold(service: ServiceName, variable: string): boolean {
  // A mounted secret: NAME_FILE holds what NAME would.
  const named = variable.replace(/_FILE$/, '');
  const known = holders[named];
  return known ? known.includes(service) : !LOOKS_SECRET.test(named);
}

/** The secrets that are made for this copy, under the names of the settings; `environmentOf` picks from them. */
function secretsOf(infrastructure: Infrastructure, name: ServiceName): NodeJS.ProcessEnv {
  const { secrets } = infrastructure;
  const own = (suffix: string) => secrets[`${name.toUpperCase()}_${suffix}` as keyof Secrets];
  return {
    DATABASE_URL: databaseUrl(infrastructure, name),
    SERVICE_KEY: own('SERVICE_KEY'),
    SERVICE_PUBLIC_KEYS: publicKeys(secrets),
    CURSOR_KEYS: own('CURSOR_KEYS'),
    ADMIN_TOKEN: secrets.ADMIN_TOKEN,
    API_KEY_PEPPERS: secrets.API_KEY_PEPPERS,
    LINK_KEYS: secrets.LINK_KEYS,
    WEBHOOK_KEYS: secrets.WEBHOOK_KEYS,
    STREAM_URL_KEY: secrets.STREAM_URL_KEY,
  };
}

function publicKeys(secrets: Secrets): string {
  return callers.map((name) => publicKeyOf(name, secrets[`${upper(name)}_SERVICE_KEY`])).join(',');
}

function passwordOf(secrets: Secrets, name: ServiceName): string {
  return secrets[`${upper(name)}_DATABASE_PASSWORD`];
}

/** Upper case that the type checker follows. */
const upper = <N extends string>(name: N) => name.toUpperCase() as Uppercase<N>;

function urlsOf(settings: Settings, names: (ServiceName & PortName)[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_URL`, urlOf(settings, name)]));
}

function databaseUrl(infrastructure: Infrastructure, name: ServiceName): string {
  const url = new URL(infrastructure.databaseUrl);
  url.username = databaseOf(name);
  url.password = passwordOf(infrastructure.secrets, name);
  url.pathname = `/${databaseOf(name)}`;
  return url.toString();
}
