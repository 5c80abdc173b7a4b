import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** Where one copy of the system lives: two copies with different values never touch each other. */
export interface Settings {
  localDir: string;
  portBase: number;
  /** Downloaded jars, shared by all copies. */
  cacheDir: string;
  /** Whether Prometheus and a viewer of traces run beside it. */
  observe: boolean;
  /** What the Kafka broker of this copy has beyond the usual. */
  kafka?: KafkaExtras;
  /** It runs for minutes, and its data need not outlive a crash of the machine; one of a process they do. */
  isThrowaway?: true;
  /** The pairs of keys that the S3 server of this copy takes; that of its secrets when absent. */
  s3Keys?: readonly S3Keys[];
}

export interface S3Keys {
  accessKey: string;
  secretKey: string;
}

export interface KafkaExtras {
  /**
   * Each client that stands behind a proxy needs a listener of its own, which sends it back to that proxy, and so does
   * each protocol; plaintext when none is named.
   */
  listeners: KafkaListener[];
  properties: Record<string, string>;
  /** Brokers beside the first, which stays the only controller; none when absent. */
  followers?: { port: number; listeners: KafkaListener[] }[];
  /** Who may log in by SCRAM. */
  users?: { name: string; password: string }[];
}

export interface KafkaListener {
  name: string;
  port: number;
  advertisedPort: number;
  protocol?: 'SSL' | 'SASL_SSL';
}

/** Distance of every port from `portBase`. */
export const offsets = {
  gateway: 0,
  admin: 1,
  gatewayHealth: 2,
  tasks: 10,
  tasksHealth: 11,
  images: 20,
  imagesHealth: 21,
  results: 30,
  resultsHealth: 31,
  quota: 40,
  quotaHealth: 41,
  notify: 42,
  notifyHealth: 43,
  inference: 50,
  inferenceHealth: 51,
  postgres: 60,
  redis: 61,
  kafka: 62,
  kafkaController: 63,
  s3: 64,
  traces: 65,
  names: 66,
  otlp: 67,
  prometheus: 68,
  registry: 69,
} as const;

export type PortName = keyof typeof offsets;

export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const portBase = Number(env['VISION_PORT_BASE'] || 8080);
  if (!Number.isInteger(portBase) || portBase < 1024 || portBase > 65_000) {
    throw new Error('VISION_PORT_BASE has to be a whole number from 1024 to 65000.');
  }
  return {
    localDir: resolve(root, env['VISION_LOCAL_DIR'] || '.local'),
    portBase,
    cacheDir: env['VISION_CACHE_DIR'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'vision'),
    observe: ['1', 'true', 'yes'].includes(env['OBSERVE'] ?? ''),
  };
}

export function portOf(settings: Settings, name: PortName): number {
  return settings.portBase + offsets[name];
}

export function urlOf(settings: Settings, name: PortName): string {
  return `http://127.0.0.1:${portOf(settings, name)}`;
}

export function dataDir(settings: Settings, part: string): string {
  return join(settings.localDir, 'data', part);
}

/** One line for one finished step; none when VISION_QUIET is set. */
export function say(subject: string, text: string): void {
  if (process.env['VISION_QUIET']) return;
  console.log(`${subject.padEnd(10)} ${text}`);
}

/** Whether this process may add programs to the machine; steps of `make test` may not (scripts/test-needs.ts). */
export function mayInstall(): boolean {
  return process.env['VISION_INSTALL'] !== 'never';
}
