import { tmpdir } from 'node:os';
import type { Infrastructure } from '../../../deploy/local/infrastructure.ts';
import type { Launch } from '../../../deploy/local/service-environment.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import type { Link } from './links.ts';
import type { ReplicaOptions, Store } from './replicas.ts';

/** A release that runs beside this code. */
export interface OlderRelease {
  version: string;
  /** The folder with its files and packages. */
  tree: string;
  /** Settings that its processes have beyond those of all. */
  env: NodeJS.ProcessEnv;
}

export interface LaunchesOptions {
  settings: Settings;
  infrastructure: Infrastructure;
  /** Settings of all services. */
  env: NodeJS.ProcessEnv;
  /** Where a process puts files that others send, unless it is the usual place. */
  diskOf: (name: string) => string | undefined;
  /** What the second process of each service runs from; this checkout when absent. */
  older?: OlderRelease | undefined;
  /** The addresses of the services to each other. */
  neighbours: Record<string, string>;
}

/**
 * Frames travel in both forms, and those of a job in one after the other as workers take it over. The last release
 * publishes single frames by default.
 */
const PUBLISHES_SINGLE_FRAMES = 'inference-1';

/**
 * An image of a track is there before the event that names it, and outages that follow each other hold that up for
 * minutes, in which the clock of PostgreSQL may be an hour ahead. In service the sweep waits for a day and a week.
 */
const EVENTS_LATE_MS = '5400000';

/** How each process of a service starts, the first time and after every end: in the release that it has. */
export function launchesOf({ settings, infrastructure, diskOf, older, env, neighbours }: LaunchesOptions) {
  return (index: 0 | 1, links: ReadonlyMap<Store, Link>): ReplicaOptions['launch'] => {
    const release = index === 1 ? older : undefined;
    return (name, portBase, secrets): Launch => ({
      settings,
      infrastructure: behind(infrastructure, links),
      env: {
        ...env,
        ...release?.env,
        WORK_DIR: diskOf(name) ?? `${settings.localDir}/work/${name}`,
        SPOOL_DIR: diskOf(name) ?? tmpdir(),
        ...(name === PUBLISHES_SINGLE_FRAMES && !older && { SEGMENT_LINGER_MS: '0' }),
        ...(name.startsWith('results-') && { ORPHAN_AGE_MS: EVENTS_LATE_MS }),
      },
      replica: { name, portBase, neighbours, secrets },
      hastened: true,
      ...(release && { tree: release.tree }),
    });
  };
}

/** The same stores through the proxies of one process. */
function behind(infrastructure: Infrastructure, links: ReadonlyMap<Store, Link>): Infrastructure {
  const through = (address: string, store: Store) => {
    const proxy = links.get(store);
    if (!proxy) return address;
    const url = new URL(address);
    url.port = String(proxy.port);
    return url.href.replace(/\/$/, '');
  };
  const kafka = links.get('kafka');
  const { objectStore } = infrastructure;
  return {
    ...infrastructure,
    databaseUrl: through(infrastructure.databaseUrl, 'postgres'),
    redisUrl: through(infrastructure.redisUrl, 'redis'),
    brokers: kafka ? kafka.ports.map((port) => `127.0.0.1:${port}`).join(',') : infrastructure.brokers,
    objectStore: { ...objectStore, endpoint: through(objectStore.endpoint, 's3') },
  };
}
