import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import type { Infrastructure } from '../../../deploy/local/infrastructure.ts';
import { migrate } from '../../../deploy/local/services.ts';
import type { Launch } from '../../../deploy/local/service-environment.ts';
import { portOf } from '../../../deploy/local/settings.ts';
import type { PortName, Settings } from '../../../deploy/local/settings.ts';
import type { Backends } from './backends.ts';
import { startBalancer } from './balancer.ts';
import type { Balancer } from './balancer.ts';
import type { Links } from './links.ts';
import { createReplica, portsOfReplica, services } from './replicas.ts';
import type { Replica, Service, Store } from './replicas.ts';

/** The services, two processes of each, as their callers reach them. */
export interface System {
  baseUrl: string;
  adminUrl: string;
  replicas: readonly Replica[];
  backends: Backends;
  inference: FaultProxy;
  close: () => Promise<void>;
}

export interface SystemOptions {
  settings: Settings;
  infrastructure: Infrastructure;
  links: Links;
  /** Settings of all services. */
  env: NodeJS.ProcessEnv;
  /** Puts the address of the real inference service behind that of the whole backend. */
  backendOf: (real: string) => Promise<Backends>;
  random: () => number;
  fakeTime: string | undefined;
}

export async function startServices(options: SystemOptions): Promise<System> {
  const { settings, infrastructure, links, fakeTime } = options;
  const balancers = await startBalancers(settings);
  const urlOf = (name: Service | 'admin') => balancers.get(name)?.url ?? '';
  const backends = await options.backendOf(urlOf('inference'));
  const inference = await startFaultProxy({ host: '127.0.0.1', port: backends.port }, options.random);
  const env = { ...process.env, ...options.env, INFERENCE_URL: `http://127.0.0.1:${inference.port}` };
  const neighbours = Object.fromEntries(
    (['tasks', 'images', 'results', 'quota'] as const).map((name) => [`${name.toUpperCase()}_URL`, urlOf(name)]),
  );
  await Promise.all(services.map((service) => migrate({ settings, infrastructure, env }, service)));
  const replicas = services.flatMap((service) =>
    ([0, 1] as const).map((index) => {
      const own = links.get(`${service}-${index + 1}`) ?? new Map<Store, FaultProxy>();
      const launch = (name: string, portBase: number): Launch => ({
        settings,
        infrastructure: behind(infrastructure, own),
        env: { ...env, WORK_DIR: `${settings.localDir}/work/${name}` },
        replica: { name, portBase, neighbours },
      });
      return createReplica({ settings, service, index, links: own, launch, fakeTime });
    }),
  );
  await Promise.all(replicas.map((replica) => replica.start()));
  return {
    baseUrl: urlOf('gateway'),
    adminUrl: urlOf('admin'),
    replicas,
    backends,
    inference,
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all([backends.close(), inference.close(), ...[...balancers.values()].map((one) => one.close())]);
    },
  };
}

async function startBalancers(settings: Settings): Promise<Map<Service | 'admin', Balancer>> {
  const names: (Service | ('admin' & PortName))[] = [...services, 'admin'];
  const entries = names.map(async (name) => {
    const ports = ([0, 1] as const).map((index) => portOf(portsOfReplica(settings, index), name));
    return [name, await startBalancer(ports)] as const;
  });
  return new Map(await Promise.all(entries));
}

/** The same stores through the proxies of one process. */
function behind(infrastructure: Infrastructure, links: ReadonlyMap<Store, FaultProxy>): Infrastructure {
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
    brokers: kafka ? `127.0.0.1:${kafka.port}` : infrastructure.brokers,
    objectStore: { ...objectStore, endpoint: through(objectStore.endpoint, 's3') },
  };
}
