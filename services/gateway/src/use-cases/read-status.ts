import { listBackendStatus } from '@vision/contracts/status';
import type { ReplicaStatus, ServiceStatus } from '@vision/contracts/status';
import { faultOf } from '@vision/shared/http/fault';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

const SERVICES = ['tasks', 'images', 'results', 'quota', 'notify'] as const;

export interface SystemStatus {
  /** The gateway that received the request. */
  gateway: ServiceStatus;
  /** Every address of every other service. */
  replicas: ReplicaStatus[];
}

/** Status of all processes that can be found: the other services by their addresses, the backend through tasks. */
export async function readStatus(
  { status, replicas, owners }: Pick<Deps, 'status' | 'replicas' | 'owners'>,
  signal: AbortSignal,
): Promise<SystemStatus> {
  const [gateway, backend, ...others] = await Promise.all([
    status.read(),
    owners.tasks.ask(listBackendStatus, { subject: OPERATOR, signal }).then(
      ({ items }) => items,
      (error: unknown) => [{ service: 'inference', address: '-', fault: `tasks did not answer: ${faultOf(error)}` }],
    ),
    ...SERVICES.map((service) => replicas.read(service)),
  ]);
  return { gateway, replicas: [...others.flat(), ...backend].toSorted((a, b) => a.service.localeCompare(b.service)) };
}
