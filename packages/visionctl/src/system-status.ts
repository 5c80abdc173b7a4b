import { z } from 'zod';
import { replicaStatus, serviceStatus } from '@vision/contracts/status';
import type { ReplicaStatus, ServiceStatus } from '@vision/contracts/status';
import type { AdminClient } from './admin-client.ts';

const systemStatus = z.object({ gateway: serviceStatus, replicas: z.array(replicaStatus) });

/** How all processes stand that the gateway finds; the gateway itself comes first. */
export async function readProcesses(admin: AdminClient): Promise<ReplicaStatus[]> {
  const { gateway, replicas } = await admin.call(systemStatus, { method: 'GET', path: '/admin/v1/status' });
  return [{ service: 'gateway', address: 'asked', status: gateway }, ...withoutRepeats(replicas)];
}

/** A process with two addresses (IPv4 and IPv6) is one process. */
function withoutRepeats(replicas: ReplicaStatus[]): ReplicaStatus[] {
  const seen = new Set<string>();
  return replicas.filter(({ service, address, status }) => {
    const name = `${service} ${status?.instance ?? address}`;
    return seen.size !== seen.add(name).size;
  });
}

/** One status of each service: what its database tells is the same from every replica. */
export function oneOfEach(processes: ReplicaStatus[]): ServiceStatus[] {
  const byService = new Map<string, ServiceStatus>();
  for (const { status } of processes)
    if (status && !byService.has(status.service)) byService.set(status.service, status);
  return [...byService.values()];
}

/** Processes that did not answer, for people. */
export const silentOnes = (processes: ReplicaStatus[]): string[] =>
  processes.flatMap(({ service, address, fault }) =>
    fault === undefined ? [] : [`${service} at ${address} did not answer: ${fault}`],
  );
