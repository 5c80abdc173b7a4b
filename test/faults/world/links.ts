import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { portOf } from '../../../deploy/local/settings.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import type { Database } from './database.ts';
import { portBlocks } from './ports.ts';
import { services, storesOf } from './replicas.ts';
import type { Store } from './replicas.ts';

/** The ways of each process to its stores, by the name of the process. */
export type Links = ReadonlyMap<string, ReadonlyMap<Store, FaultProxy>>;

export async function startLinks(settings: Settings, database: Database, random: () => number): Promise<Links> {
  const links = new Map<string, Map<Store, FaultProxy>>();
  let kafkaPort = settings.portBase + portBlocks.kafkaListeners;
  for (const service of services) {
    for (const number of [1, 2]) {
      const own = new Map<Store, FaultProxy>();
      for (const store of storesOf[service]) {
        const listener = kafkaPort;
        if (store === 'kafka') kafkaPort += 1;
        const fixed = store === 'kafka' ? listener : portOf(settings, store);
        const target = () => ({ host: '127.0.0.1', port: store === 'postgres' ? database.port() : fixed });
        own.set(store, await startFaultProxy(target, random));
      }
      links.set(`${service}-${number}`, own);
    }
  }
  return links;
}

/** A client of the broker goes where the broker says it is: each proxy needs a listener that names it. */
export function listenersOf(settings: Settings, links: Links) {
  const behind = [...links].filter(([, own]) => own.has('kafka'));
  return behind.map(([name, own], index) => ({
    name: name.toUpperCase().replace('-', '_'),
    port: settings.portBase + portBlocks.kafkaListeners + index,
    advertisedPort: own.get('kafka')?.port ?? 0,
  }));
}
