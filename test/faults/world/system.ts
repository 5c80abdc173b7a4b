import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { migrate } from '../../../deploy/local/services.ts';
import { portOf, urlOf } from '../../../deploy/local/settings.ts';
import type { PortName, Settings } from '../../../deploy/local/settings.ts';
import type { Backends } from './backends.ts';
import { startBalancer } from './balancer.ts';
import type { Balancer } from './balancer.ts';
import { launchesOf } from './launches.ts';
import type { LaunchesOptions } from './launches.ts';
import type { Link, Links } from './links.ts';
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

export interface SystemOptions extends Omit<LaunchesOptions, 'neighbours'> {
  links: Links;
  /** Puts the address of the real inference service behind that of the whole backend. */
  backendOf: (real: string) => Promise<Backends>;
  random: () => number;
  fakeTime: string | undefined;
  /** What processes have in place of the secrets of the copy, from their first start on. */
  secretsOf?: ((replica: Replica) => NodeJS.ProcessEnv) | undefined;
  /** Whether balancers ask processes if they are ready. */
  asksReadiness?: boolean | undefined;
}

export async function startServices(options: SystemOptions): Promise<System> {
  const { settings, infrastructure, links, fakeTime } = options;
  const balancers = await startBalancers(settings, options.asksReadiness === true);
  const addressOf = (name: Service | 'admin') => balancers.get(name)?.url ?? '';
  const backends = await options.backendOf(addressOf('inference'));
  const inference = await startFaultProxy({ host: '127.0.0.1', port: backends.port }, options.random);
  const env = { ...process.env, ...options.env, INFERENCE_URL: `http://127.0.0.1:${inference.port}` };
  const neighbours = Object.fromEntries(
    (['tasks', 'images', 'results', 'quota', 'notify'] as const).map((name) => [
      `${name.toUpperCase()}_URL`,
      addressOf(name),
    ]),
  );
  await Promise.all(services.map((service) => migrate({ settings, infrastructure, env }, service)));
  const launchOf = launchesOf({ ...options, env, neighbours });
  const replicas = services.flatMap((service) =>
    ([0, 1] as const).map((index) => {
      const own = links.get(`${service}-${index + 1}`) ?? new Map<Store, Link>();
      return createReplica({ settings, service, index, links: own, launch: launchOf(index, own), fakeTime });
    }),
  );
  for (const replica of replicas) replica.setSecrets(options.secretsOf?.(replica) ?? {});
  await Promise.all(replicas.map((replica) => replica.start()));
  return {
    baseUrl: addressOf('gateway'),
    adminUrl: addressOf('admin'),
    replicas,
    backends,
    inference,
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all([backends.close(), inference.close(), ...[...balancers.values()].map((one) => one.close())]);
    },
  };
}

async function startBalancers(settings: Settings, asksReadiness: boolean): Promise<Map<Service | 'admin', Balancer>> {
  const names: (Service | ('admin' & PortName))[] = [...services, 'admin'];
  const entries = names.map(async (name) => {
    const health = name === 'admin' ? 'gatewayHealth' : (`${name}Health` as const);
    const replicas = ([0, 1] as const).map((index) => portsOfReplica(settings, index));
    const ports = replicas.map((own) => portOf(own, name));
    const healthUrls = new Map(replicas.map((own) => [portOf(own, name), urlOf(own, health)]));
    const options = asksReadiness ? { healthUrlOf: (port: number) => healthUrls.get(port) ?? '' } : {};
    return [name, await startBalancer(ports, options)] as const;
  });
  return new Map(await Promise.all(entries));
}
