import { output } from '../../images/engine.ts';
import type { ComposeFile } from '../compose-file.ts';

/**
 * The networks of the compose file as bridges inside one network namespace, which stands for the machine, with a
 * namespace of its own for each container. Nothing leads out of them: addresses are of the ranges that are kept for
 * documents (RFC 5737), and nothing is forwarded.
 */
export interface TestNetwork {
  /** Makes the namespace of a container with its connections; returns where it is. */
  attach: (container: string) => string;
  /** Address of a container on the first network that two have in common; undefined when they have none. */
  addressFor: (asker: string, container: string) => string | undefined;
  /** Address of a container that anything on the machine can reach. */
  addressOf: (container: string) => string;
  /** Where the machine itself is on the first network of a container. */
  machineFor: (container: string) => string;
  remove: () => void;
}

const DOCUMENT_RANGES = ['192.0.2', '198.51.100', '203.0.113'];
/** Subnets of 62 addresses, four in each range. */
const SUBNET = 64;

function address(subnet: number, host: number): string {
  const range = DOCUMENT_RANGES[Math.floor(subnet / 4)];
  if (range === undefined) throw new Error(`more than ${DOCUMENT_RANGES.length * 4} networks`);
  return `${range}.${(subnet % 4) * SUBNET + host}`;
}

const ip = (...args: string[]) => output(['ip', ...args]);

/** Names of interfaces have 15 characters at most, so they are numbers. */
export function createTestNetwork(prefix: string, compose: ComposeFile, standIns: string[]): TestNetwork {
  const networks = Object.keys(compose.networks);
  const containers = Object.keys(compose.services);
  const networksOf = (container: string) => compose.services[container]?.networks ?? [];
  const on = (network: string, container: string) =>
    address(networks.indexOf(network), 2 + containers.indexOf(container));
  const made: string[] = [];

  ip('link', 'set', 'lo', 'up');
  for (const [index, network] of networks.entries()) {
    ip('link', 'add', `bridge${index}`, 'type', 'bridge');
    ip('address', 'add', `${address(index, 1)}/26`, 'dev', `bridge${index}`);
    // Programs of the machine that stand for a container have its address.
    for (const name of standIns.filter((name) => networksOf(name).includes(network)))
      ip('address', 'add', `${on(network, name)}/26`, 'dev', `bridge${index}`);
    ip('link', 'set', `bridge${index}`, 'up');
  }

  function attach(container: string): string {
    const name = `${prefix}-${container}`;
    ip('netns', 'add', name);
    made.push(name);
    ip('-n', name, 'link', 'set', 'lo', 'up');
    for (const [order, network] of networksOf(container).entries()) {
      const index = networks.indexOf(network);
      const outer = `v${containers.indexOf(container)}-${index}`;
      ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', `eth${order}`, 'netns', name);
      ip('link', 'set', outer, 'master', `bridge${index}`, 'up');
      ip('-n', name, 'address', 'add', `${on(network, container)}/26`, 'dev', `eth${order}`);
      ip('-n', name, 'link', 'set', `eth${order}`, 'up');
    }
    // Also where the network is an internal one: what a container tries to reach is to be seen.
    ip('-n', name, 'route', 'add', 'default', 'via', machineFor(container));
    ip('-n', name, '-6', 'route', 'add', 'default', 'dev', 'eth0');
    return `/run/netns/${name}`;
  }

  const machineFor = (container: string) => address(networks.indexOf(networksOf(container)[0] ?? ''), 1);
  return {
    attach,
    machineFor,
    addressFor: (asker, container) => {
      const shared = networksOf(asker).find((network) => networksOf(container).includes(network));
      return shared === undefined ? undefined : on(shared, container);
    },
    addressOf: (container) => on(networksOf(container)[0] ?? '', container),
    remove: () => made.forEach((name) => ip('netns', 'delete', name)),
  };
}
