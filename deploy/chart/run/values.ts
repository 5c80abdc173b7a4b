import { environmentOf, serviceNames } from '../../local/service-environment.ts';
import type { Infrastructure } from '../../local/infrastructure.ts';
import { portOf, urlOf } from '../../local/settings.ts';
import type { Settings } from '../../local/settings.ts';
import type { Stored } from './cluster.ts';

/** Ports of one slot of a component; a Service's port is that of the proxy in front of both slots. */
export interface Ports {
  http: number;
  health: number;
  admin: number;
}

/** Two places for the pod of a component: while it is replaced, the old one and the new one are there. */
export type Slot = 1 | 2;

/** Apart from the infrastructure, which begins at the port base. */
const SERVICE_PORTS = 200;

/** Ports of Services (slot 0, where the proxy listens) and of the pods behind them (slots 1 and 2). */
export function portsOf({ portBase }: Settings, component: string, slot: 0 | Slot): Ports {
  const index = serviceNames.findIndex((name) => name === component);
  const http = portBase + SERVICE_PORTS + 100 * slot + 10 * index;
  return { http, health: http + 1, admin: http + 2 };
}

/** Where the images of a run are, and under which tag when not under that of the chart. */
export interface RunImages {
  registry: string;
  tag?: string;
}

/** The values of the run: one replica of each, on ports of their own, and the stores of this machine. */
export function runValues(settings: Settings, image: RunImages, names: readonly string[] = serviceNames) {
  const ports = (name: string) => {
    const { http, health, admin } = portsOf(settings, name, 0);
    return name === 'gateway' ? { http, health, admin } : { http, health };
  };
  return {
    image,
    secrets: { generate: true },
    // Live streams of this machine.
    streams: { allowedCidrs: ['127.0.0.1/32'] },
    database: { existingSecret: 'stores', maxConnections: 150 },
    redis: { existingSecret: 'stores' },
    kafka: {
      brokers: [`127.0.0.1:${portOf(settings, 'kafka')}`],
      topics: {
        // No number of partitions: what makes the topics here gives them that of this release.
        default: { replicationFactor: 1, minInsyncReplicas: 1 },
        deadLetters: { partitions: 1, replicationFactor: 1, minInsyncReplicas: 1 },
      },
    },
    objectStore: {
      endpoint: urlOf(settings, 's3'),
      bucket: 'vision-chart',
      existingSecret: 'stores',
      manageBucket: 'create',
    },
    // Nothing here enforces them, and stores of this machine have ports of their own.
    networkPolicy: { enabled: false },
    stop: { preStopSeconds: 2, drainDelaySeconds: 3 },
    componentDefaults: { replicas: 1, database: { pool: 5 } },
    components: {
      ...Object.fromEntries(names.map((name) => [name, { ports: ports(name) }])),
      inference: { ports: ports('inference'), settings: { DETECT_THREADS: 1 } },
    },
  };
}

/** The Secret that an operator makes beforehand. */
export function storeSecret(settings: Settings, infrastructure: Infrastructure): Stored {
  const of = (name: (typeof serviceNames)[number]) => environmentOf({ settings, infrastructure, env: {} }, name);
  const databases = serviceNames.map((name) => [`${name}-database-url`, of(name)['DATABASE_URL'] ?? ''] as const);
  const { S3_ACCESS_KEY = '', S3_SECRET_KEY = '' } = of('tasks');
  return {
    stores: {
      ...Object.fromEntries(databases),
      'redis-url': of('gateway')['REDIS_URL'] ?? '',
      'access-key': S3_ACCESS_KEY,
      'secret-key': S3_SECRET_KEY,
    },
  };
}
