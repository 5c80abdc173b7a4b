import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import { faultOf } from './fault.ts';

/** What the process at one address answered, or why it did not. */
export type ReplicaAnswer<T> = { address: string } & ({ answer: T } | { fault: string });

/**
 * Asks every address that the name in a URL resolves to, each by itself. The name stays in the request, so certificates
 * and virtual hosts fit. Behind an address that is shared (a balancer, a ClusterIP), one of the replicas answers.
 */
export async function askEveryReplica<T>(
  baseUrl: string,
  ask: (dispatcher: Dispatcher) => Promise<T>,
  lookUp: (name: string) => Promise<string[]> = addressesOf,
): Promise<ReplicaAnswer<T>[]> {
  const { hostname } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const addresses = isIP(host) === 0 ? await lookUp(host) : [host];
    return await Promise.all(addresses.map((address) => askOne(address, ask)));
  } catch (error) {
    return [{ address: host, fault: faultOf(error) }];
  }
}

async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true });
  return [...new Set(found.map(({ address }) => address))].toSorted();
}

async function askOne<T>(address: string, ask: (dispatcher: Dispatcher) => Promise<T>): Promise<ReplicaAnswer<T>> {
  const family = isIP(address);
  const agent = new Agent({
    connect: {
      timeout: CONNECT_MS,
      lookup: (_name, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family)),
    },
  });
  try {
    return { address, answer: await ask(agent) };
  } catch (error) {
    return { address, fault: faultOf(error) };
  } finally {
    agent.destroy().catch(() => undefined);
  }
}

const CONNECT_MS = 3_000;
