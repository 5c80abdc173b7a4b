import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { portOf } from '../../../deploy/local/settings.ts';
import type { KafkaListener, Settings } from '../../../deploy/local/settings.ts';
import type { Database } from './database.ts';
import { portBlocks } from './ports.ts';
import { services, storesOf } from './replicas.ts';
import type { Store } from './replicas.ts';

/** The way of a process to a store: one proxy before each of its servers, which suffer together. */
export interface Link extends FaultProxy {
  ports: readonly number[];
}

/** The ways of each process to its stores, by the name of the process. */
export type Links = ReadonlyMap<string, ReadonlyMap<Store, Link>>;

export interface LinkTargets {
  database: Database;
  /** Of the server before the object store. */
  s3Port: number;
  brokers: number;
}

export async function startLinks(
  settings: Settings,
  { database, s3Port, brokers }: LinkTargets,
  random: () => number,
): Promise<Links> {
  const links = new Map<string, Map<Store, Link>>();
  const redisPort = () => portOf(settings, 'redis');
  let clients = 0;
  for (const service of services) {
    for (const number of [1, 2]) {
      const own = new Map<Store, Link>();
      const listeners = portBlocks.kafkaListeners.slice(0, brokers).map((block) => settings.portBase + block + clients);
      if (storesOf[service].includes('kafka')) clients += 1;
      const portsOf = {
        postgres: [database.port],
        kafka: listeners.map((port) => () => port),
        s3: [() => s3Port],
        redis: [redisPort],
      };
      for (const store of storesOf[service]) own.set(store, await startLink(portsOf[store], random));
      links.set(`${service}-${number}`, own);
    }
  }
  return links;
}

async function startLink(targets: (() => number)[], random: () => number): Promise<Link> {
  const proxies: FaultProxy[] = [];
  for (const port of targets) proxies.push(await startFaultProxy(() => ({ host: '127.0.0.1', port: port() }), random));
  const ports = proxies.map(({ port }) => port);
  return {
    port: ports[0] ?? 0,
    ports,
    set: (toxic, scope) => {
      for (const proxy of proxies) proxy.set(toxic, scope);
    },
    hits: () => proxies.reduce((sum, proxy) => sum + proxy.hits(), 0),
    close: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}

/** A client of a broker goes where the broker says it is: each proxy needs a listener that names it. */
export function listenersOf(settings: Settings, links: Links, broker: number): KafkaListener[] {
  const behind = [...links].filter(([, own]) => own.has('kafka'));
  return behind.map(([name, own], index) => ({
    name: name.toUpperCase().replace('-', '_'),
    port: settings.portBase + (portBlocks.kafkaListeners[broker] ?? 0) + index,
    advertisedPort: own.get('kafka')?.ports[broker] ?? 0,
  }));
}
