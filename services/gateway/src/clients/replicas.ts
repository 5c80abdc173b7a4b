import { getServiceStatus } from '@vision/contracts/status';
import type { ReplicaStatus } from '@vision/contracts/status';
import { askEveryReplica } from '@vision/shared/http/replicas';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { ServiceClientOptions } from '@vision/shared/http/service-client';
import { OPERATOR } from '../domain/audit.ts';
import type { Owner } from '@vision/contracts/public-operations';

export interface Replicas {
  /** Status of each replica of a service, whose addresses its name resolves to. */
  read: (service: Owner) => Promise<ReplicaStatus[]>;
}

/** Longer than a status whose every query reaches its deadline. */
const TIMEOUT_MS = 8_000;

export function createReplicas(
  urls: Record<Owner, string>,
  options: Pick<ServiceClientOptions, 'signer' | 'logger'>,
): Replicas {
  return {
    read: async (service) => {
      const answers = await askEveryReplica(urls[service], (dispatcher) =>
        createServiceClient({
          ...options,
          dispatcher,
          baseUrl: urls[service],
          audience: service,
          timeoutMs: TIMEOUT_MS,
        }).ask(getServiceStatus, { subject: OPERATOR }),
      );
      return answers.map((told) => {
        const place = { service, address: told.address };
        return 'fault' in told ? { ...place, fault: told.fault } : { ...place, status: told.answer };
      });
    },
  };
}
