import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@vision/shared/logger';
import { applyTopics } from '@vision/kafka/apply-topics';
import { createKafka } from '@vision/kafka/kafka';
import type { KafkaClient } from '@vision/kafka/kafka';
import { wantedTopics } from '@vision/kafka/topics-config';
import { ensureRunning } from './background.ts';
import { jarsOf } from './jars.ts';
import { dataDir, portOf, root } from './settings.ts';
import type { KafkaExtras, KafkaListener, Settings } from './settings.ts';
import { becomesTrue, isPortFree } from './wait.ts';

/** A broker by the name of its process and its data folder. */
interface Broker {
  name: string;
  id: number;
  port: number;
  listeners: KafkaListener[];
}

function brokersOf(settings: Settings): Broker[] {
  const { listeners = [], followers = [] } = settings.kafka ?? {};
  const first = { name: 'kafka', id: 1, port: portOf(settings, 'kafka'), listeners };
  return [first, ...followers.map((own, index) => ({ name: `kafka-${index + 2}`, id: index + 2, ...own }))];
}

export function localBrokers(settings: Settings): string {
  return brokersOf(settings)
    .map(({ port }) => `127.0.0.1:${port}`)
    .join(',');
}

export async function ensureKafka(settings: Settings): Promise<void> {
  for (const broker of brokersOf(settings)) await ensureBroker(settings, broker);
}

async function ensureBroker(settings: Settings, broker: Broker): Promise<void> {
  const { name, port } = broker;
  const jars = join(jarsOf(settings, 'kafka'), '*');
  const dir = dataDir(settings, name);
  const properties = join(dir, 'server.properties');
  mkdirSync(dir, { recursive: true });
  writeFileSync(properties, serverProperties(settings, broker, join(dir, 'log')));
  if (!existsSync(join(dir, 'formatted'))) {
    const id = broker.id === 1 ? newClusterId() : readFileSync(join(dataDir(settings, 'kafka'), 'formatted'), 'utf8');
    format({ jars, properties, dir, id: id.trim(), users: settings.kafka?.users ?? [] });
  }
  await ensureRunning(settings, {
    name,
    command: 'java',
    args: [
      '-Xmx512m',
      '-XX:+UseSerialGC',
      ...(settings.isThrowaway ? quickCompiler : []),
      ...logOptions,
      '-cp',
      jars,
      'kafka.Kafka',
      properties,
    ],
    port,
    ready: () => answers(port),
    readyTimeoutMs: 240_000,
  });
}

/** Creates the topics that are missing, and waits until the broker can coordinate consumer groups. */
export async function ensureLocalTopics(brokers: string): Promise<void> {
  const client = clientOf(brokers);
  await applyTopics(client, wantedTopics(), { missingOnly: true });
  const admin = client.kafka.admin();
  await admin.connect();
  try {
    // The first question about a group makes the broker create its offsets topic, which takes a moment.
    const asked = () => admin.fetchOffsets({ groupId: 'vision-local' }).then(() => true);
    await becomesTrue(asked, { timeoutMs: 20_000, everyMs: 50 });
  } finally {
    await admin.disconnect();
  }
}

function clientOf(brokers: string): KafkaClient {
  return createKafka({
    brokers: brokers.split(','),
    clientId: 'vision-local',
    logger: createLogger('local', 'silent'),
  });
}

/** The listener opens late in a broker's start, so the question behind it is asked only once or twice. */
async function answers(port: number): Promise<boolean> {
  if (await isPortFree(port)) return false;
  const admin = clientOf(`127.0.0.1:${port}`).kafka.admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length > 0;
  } finally {
    await admin.disconnect();
  }
}

/** A broker of some minutes does not earn back what the second compiler costs. */
const quickCompiler = ['-XX:TieredStopAtLevel=1'];

const logOptions = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
];

function serverProperties(settings: Settings, { id, port, listeners }: Broker, logDir: string): string {
  const { properties = {} } = settings.kafka ?? {};
  const each = (text: (listener: KafkaListener) => string) => listeners.map((l) => `,${text(l)}`);
  const controllerPort = String(portOf(settings, 'kafkaController'));
  const controller = id === 1 ? `,CONTROLLER://127.0.0.1:${controllerPort}` : '';
  const values: Record<string, string> = {
    ROLES: id === 1 ? 'broker,controller' : 'broker',
    NODE: String(id),
    PORT: String(port),
    CONTROLLER_PORT: controllerPort,
    DATA: logDir,
    MORE_LISTENERS: controller + each((listener) => `${listener.name}://127.0.0.1:${listener.port}`).join(''),
    MORE_ADVERTISED: each(({ name, advertisedPort }) => `${name}://127.0.0.1:${advertisedPort}`).join(''),
    MORE_PROTOCOLS: each(({ name, protocol = 'PLAINTEXT' }) => `${name}:${protocol}`).join(''),
  };
  const template = readFileSync(join(root, 'deploy/local/kafka/server.properties'), 'utf8');
  const more = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
  return template.replace(/@([A-Z_]+)@/g, (_, name: string) => values[name] ?? '') + more.join('');
}

interface Storage {
  jars: string;
  properties: string;
  dir: string;
  /** Of the cluster. */
  id: string;
  users: NonNullable<KafkaExtras['users']>;
}

/**
 * A new broker needs its storage stamped with a cluster id; the mark is written last, so that a half
 * format is repeated.
 */
function format({ jars, properties, dir, id, users }: Storage): void {
  rmSync(join(dir, 'log'), { recursive: true, force: true });
  const args = [
    '-Xmx128m',
    ...logOptions,
    '-cp',
    jars,
    'kafka.tools.StorageTool',
    'format',
    '-t',
    id,
    '-c',
    properties,
    ...users.flatMap(scramArguments),
  ];
  const tool = spawnSync('java', args, { encoding: 'utf8' });
  if (tool.status !== 0) throw new Error(`Kafka's storage could not be formatted:\n${tool.stdout}${tool.stderr}`);
  writeFileSync(join(dir, 'formatted'), `${id}\n`);
}

/** The first byte is kept small: an id that begins with a dash would be read as an option. */
const newClusterId = () => Buffer.concat([Buffer.from([1]), randomBytes(15)]).toString('base64url');

/** A broker keeps salted digests only, one for each mechanism; the first users are written with its storage. */
const scramArguments = ({ name, password }: NonNullable<KafkaExtras['users']>[number]) =>
  ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${name},password=${password}]`,
  ]);
